"""What physical_validation wants to know of a run, for the scripts beside this file."""

import physical_validation as pv

BOLTZMANN = 8.31446261815324e-3  # kJ/mol/K
BAR = 0.0602214076  # kJ/mol/nm³


def simulation(system, temperature, kinetic, pressure=None, potential=None, volume=None, interval=1.0):
    """Its data, in units of GROMACS: at constant pressure if there is one; of kinetic energies alone without the potential.

    `system` has masses, the number of constraints and that of the degrees of freedom of the motion that is removed.
    """
    masses, constraints, removed = system
    state = {"volume": 1.0} if pressure is None else {"pressure": pressure}
    potential = kinetic if potential is None else potential
    return pv.data.SimulationData(
        units=pv.data.UnitData.units("GROMACS"),
        ensemble=pv.data.EnsembleData("NVT" if pressure is None else "NPT", natoms=len(masses), temperature=temperature, **state),
        system=pv.data.SystemData(
            natoms=len(masses),
            nconstraints=constraints,
            ndof_reduction_tra=min(removed, 3),
            ndof_reduction_rot=max(removed - 3, 0),
            mass=masses,
        ),
        observables=pv.data.ObservableData(
            kinetic_energy=kinetic, potential_energy=potential, total_energy=kinetic + potential, volume=volume
        ),
        dt=interval,
    )
