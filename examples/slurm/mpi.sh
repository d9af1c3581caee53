#!/bin/bash
# All replicas of the [ensemble] in an input file as one job of several ranks, with md built by
# `cargo build --release --features mpi`:
#
#     sbatch --nodes=2 --ntasks-per-node=4 --cpus-per-task=8 mpi.sh input.toml
#
# What has not finished at the end of the time goes on in the next job, which is queued here.
#SBATCH --time=24:00:00
#SBATCH --signal=USR2@300
#SBATCH --requeue
#SBATCH --open-mode=append

# a rank that is killed ends the job; `srun --mpi=list` shows what could be needed in addition, often --mpi=pmix
srun --cpus-per-task="${SLURM_CPUS_PER_TASK:-1}" --cpu-bind=cores --kill-on-bad-exit=1 md run "${1:?the input file is missing}"
code=$?
if [ "$code" = 3 ]; then # stopped with checkpoints, by the signal
    scontrol requeue "$SLURM_JOB_ID"
fi
exit "$code"
