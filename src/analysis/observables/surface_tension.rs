//! Surface tension from the pressures along x, y and z.

use super::TableOptions;
use crate::analysis::findings::{Array, Axis, Findings, Plot, TIME};
use crate::analysis::statistics::Summary;
use crate::analysis::table::EnergyTable;
use crate::ensemble::barostat::surface_tension;
use crate::error::{Problem, Result};
use crate::units::BAR;
use crate::vec3::vec3;

/// Results: surface_tension of one interface (mN/m) in every row, and the mean of all rows up to each row (mean)
///
/// The interfaces are parallel to the xy plane. The table needs the pressures along x, y and z, which a run with a
/// semi-isotropic or anisotropic barostat writes
#[derive(Debug, clap::Args)]
pub(super) struct SurfaceTensionOptions {
    /// Number of interfaces in the cell: two for a slab of liquid or a bilayer
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..=1000))]
    interfaces: u32,
}

/// Names of the columns with the diagonal elements of the pressure tensor (bar); [`HEIGHT`] is the column with the
/// height of the cell (nm).
const PRESSURES: [&str; 3] = ["pressure_xx", "pressure_yy", "pressure_zz"];
const HEIGHT: &str = "c_z";
/// 1 bar nm in mN/m.
const MILLINEWTON_PER_METER: f64 = 0.1;

impl TableOptions for SurfaceTensionOptions {
    /// Computes the tension γ = L_z/n ⟨P_zz − (P_xx + P_yy)/2⟩ of each of n interfaces in a cell of height L_z with the
    /// pressure tensor P (Kirkwood & Buff, J. Chem. Phys. 17, 338 (1949), doi:10.1063/1.1747248).
    fn findings(&self, table: &EnergyTable) -> Result<Findings> {
        let column = |name| {
            table.named(name).ok_or_else(|| {
                let problem = Problem::new(format!("the energy table has no column {name}")).in_file(&table.path);
                problem.help("use a barostat with `coupling = \"semi-isotropic\"` or `coupling = \"anisotropic\"`")
            })
        };
        let (xx, yy, zz) = (column(PRESSURES[0])?, column(PRESSURES[1])?, column(PRESSURES[2])?);
        let heights = column(HEIGHT)?;
        if [&xx, &yy, &zz, &heights].into_iter().flatten().any(|value| !value.is_finite()) {
            let problem = Problem::new("some rows have no pressures along x, y and z").in_file(&table.path);
            return Err(problem.help("choose later rows with --begin: the run began without these columns").into());
        }
        let tension = |k: usize| {
            let pressures = vec3(xx[k], yy[k], zz[k]) * BAR;
            MILLINEWTON_PER_METER * surface_tension(pressures, heights[k]) / BAR / f64::from(self.interfaces)
        };
        let values: Vec<f64> = (0..heights.len()).map(tension).collect();
        let mut sum = 0.0;
        let means: Vec<f64> =
            values.iter().enumerate().map(|(k, value)| (sum += value, sum / (k + 1) as f64).1).collect();
        let (summary, rows, times) = (Summary::of(&values), values.len(), table.passed().times);
        Ok(Findings {
            numbers: vec![summary.number("surface_tension", "mN/m")],
            summary: summary.lines("mN/m"),
            warnings: vec![],
            plots: vec![Plot::over_time("Surface tension", Axis::new("γ / mN m⁻¹"), summary.layers(&times, &values))],
            arrays: vec![
                Array::new("surface_tension", [(TIME, rows)], values, "mN m-1"),
                Array::new("mean", [(TIME, rows)], means, "mN m-1"),
            ],
            settings: vec![("interfaces", self.interfaces.to_string())],
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::table::RowRange;

    /// The pressure difference P_zz − (P_xx + P_yy)/2 of 100 bar = 10 MPa in a cell of height 8 nm gives a total
    /// tension of 80 mN/m for two interfaces.
    #[test]
    fn tension_of_a_slab() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let mut text =
            "step,time (ps),stage,c_z (nm),pressure_xx (bar),pressure_yy (bar),pressure_zz (bar)\n".to_owned();
        (0..20).for_each(|row| text += &format!("{row},{row},1,8,-{},{},90\n", 20 + row, row));
        std::fs::write(file.path(), &text).unwrap();
        let table = || EnergyTable::open(&[file.path().to_owned()], RowRange::default()).unwrap();
        let found = SurfaceTensionOptions { interfaces: 2 }.findings(&table()).unwrap();
        assert!((found.numbers[0].value - 40.0).abs() < 1e-12, "{:?}", found.numbers);
        std::fs::write(file.path(), text.replace("pressure_zz", "density")).unwrap();
        let error = SurfaceTensionOptions { interfaces: 2 }.findings(&table()).unwrap_err().to_string();
        assert!(error.contains("no column pressure_zz"), "{error}");
        std::fs::write(file.path(), text.replacen(",8,-20,", ",8,NaN,", 1)).unwrap();
        let error = SurfaceTensionOptions { interfaces: 2 }.findings(&table()).unwrap_err().to_string();
        assert!(error.contains("some rows have no pressures"), "{error}");
    }
}
