#!/bin/bash
# Runs all replicas of the [ensemble] in an input file as one job of several ranks. Build md with
# `cargo build --release --features mpi`:
#
#     sbatch --nodes=2 --ntasks-per-node=4 --cpus-per-task=8 mpi.sh input.toml
#
# Replicas that have not finished at the end of the time continue in the next job, which this script queues.
#SBATCH --time=24:00:00
#SBATCH --signal=USR2@300
#SBATCH --requeue
#SBATCH --open-mode=append

# a killed rank ends the job; srun may need --mpi=TYPE in addition, often --mpi=pmix: `srun --mpi=list` shows the types
srun --cpus-per-task="${SLURM_CPUS_PER_TASK:-1}" --cpu-bind=cores --kill-on-bad-exit=1 md run "${1:?the input file is missing}"
code=$?
if [ "$code" = 3 ]; then # the signal stopped the run, which wrote checkpoints
    scontrol requeue "$SLURM_JOB_ID"
fi
exit "$code"
