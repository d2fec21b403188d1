#!/usr/bin/env bash
# Slurm: eight ranks on two machines share the sixteen walkers of one run; sbatch it again and it goes on.
#   cmake --preset release -DKELVIN_MPI=ON && ninja -C build kelvin && sbatch examples/slurm.sh
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=4
#SBATCH --cpus-per-task=2
#SBATCH --time=04:00:00
#SBATCH --signal=TERM@120
set -eu
file=examples/walkers.toml out=runs/walkers
if [ -f "$out/run.json" ]; then
  srun build/kelvin resume "$out" --threads "${SLURM_CPUS_PER_TASK:-1}"
else
  srun build/kelvin sample "$file" -o "$out" --threads "${SLURM_CPUS_PER_TASK:-1}"
fi
