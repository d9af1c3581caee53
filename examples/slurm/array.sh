#!/bin/bash
# Runs each replica of the [ensemble] in an input file as a job of its own, each on one node:
#
#     sbatch --array=1-4 --cpus-per-task=8 array.sh input.toml
#
# A replica that has not finished at the end of its time continues in the next job, which this script queues.
#SBATCH --ntasks=1
#SBATCH --time=24:00:00
#SBATCH --signal=USR2@300
#SBATCH --requeue
#SBATCH --open-mode=append

srun --cpus-per-task="${SLURM_CPUS_PER_TASK:-1}" md run --replica "$SLURM_ARRAY_TASK_ID" "${1:?the input file is missing}"
code=$?
if [ "$code" = 3 ]; then # the signal stopped the run, which wrote a checkpoint
    scontrol requeue "$SLURM_JOB_ID"
fi
exit "$code"
