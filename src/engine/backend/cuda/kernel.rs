//! List of all CUDA kernels, as an enum with their names in C.

/// Declares the enum of the kernels from their names in C.
macro_rules! kernels {
    ($($variant:ident = $name:literal,)*) => {
        /// A CUDA kernel.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Kernel {
            $(
                #[doc = concat!("`", $name, "`")]
                $variant,
            )*
        }

        impl Kernel {
            /// All kernels, in the order of their numbers.
            pub(super) const ALL: &[Kernel] = &[$(Kernel::$variant,)*];

            /// Returns the name of the kernel in C.
            pub(super) fn name(self) -> &'static str {
                match self { $(Kernel::$variant => $name,)* }
            }
        }
    };
}

kernels! {
    SortCount = "sort_count",
    SortScan = "sort_scan",
    SortFill = "sort_fill",
    SortOrder = "sort_order",
    SortFinish = "sort_finish",
    Search = "search",
    CloseSearch = "close_search",
    PredictPositions = "predict_positions",
    Prune = "prune",
    Pack = "pack",
    PairGeometric = "pair_geometric",
    PairGeometricSums = "pair_geometric_sums",
    PairLorentzBerthelot = "pair_lorentz_berthelot",
    PairLorentzBerthelotSums = "pair_lorentz_berthelot_sums",
    PairTypeTable = "pair_type_table",
    PairTypeTableSums = "pair_type_table_sums",
    PairForceSwitch = "pair_force_switch",
    PairForceSwitchSums = "pair_force_switch_sums",
    PairPotentialSwitch = "pair_potential_switch",
    PairPotentialSwitchSums = "pair_potential_switch_sums",
    SetForceConstants = "set_force_constants",
    BookRestraintWork = "book_restraint_work",
    GatherPositions = "gather_positions",
    AddHostForces = "add_host_forces",
    AddHostForcesSums = "add_host_forces_sums",
    Spread4 = "spread4",
    Spread5 = "spread5",
    Spread6 = "spread6",
    Spread8 = "spread8",
    TransformPlanes = "transform_planes",
    SolveLines = "solve_lines",
    SolveLinesSums = "solve_lines_sums",
    RestorePlanes = "restore_planes",
    ConvertGrid = "convert_grid",
    Solve = "solve",
    SolveSums = "solve_sums",
    Gather4 = "gather4",
    Gather5 = "gather5",
    Gather6 = "gather6",
    Gather8 = "gather8",
    SpreadSites = "spread_sites",
    SpreadSitesSums = "spread_sites_sums",
    PlaceSites = "place_sites",
    Advance = "advance",
    AdvanceSums = "advance_sums",
    AdvanceRefreshed = "advance_refreshed",
    AdvanceRefreshedSums = "advance_refreshed_sums",
    Refresh = "refresh",
    SetRefreshment = "set_refreshment",
    Scale = "scale",
    AdvanceCoupled = "advance_coupled",
    AdvanceCoupledSums = "advance_coupled_sums",
    AdvanceCoupledRefreshed = "advance_coupled_refreshed",
    AdvanceCoupledRefreshedSums = "advance_coupled_refreshed_sums",
    RefreshCoupled = "refresh_coupled",
    ScaleCoupled = "scale_coupled",
    RescaleVelocities = "rescale_velocities",
    ChangeCell = "change_cell",
    FinishWork = "finish_work",
    Momentum = "momentum",
    RemoveMomentum = "remove_momentum",
    StopMotion = "stop_motion",
    StretchMolecules = "stretch_molecules",
    LargestDeviation = "largest_deviation",
    KeepForces = "keep_forces",
    PowerOfChange = "power_of_change",
}
