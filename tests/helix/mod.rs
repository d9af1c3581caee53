//! Entry of a peptide that spans a membrane, for the tests of `md build` and of the guide.

/// Returns a PDB file of an α-helix along z (two lysines, 20 leucines and two lysines), with its middle at `height` in
/// Å. The helix consists of backbone atoms only, with the torsions φ = −57.8° and ψ = −47°.
pub(crate) fn helix(height: f64) -> String {
    // name, distance from the axis (Å), angle and height (Å) relative to CA
    let backbone = [
        ("N", 1.566, -26.65f64, -0.916),
        ("CA", 2.291, 0.0, 0.0),
        ("C", 1.680, 26.90, 1.058),
        ("O", 1.934, 20.68, 2.247),
    ];
    let mut text = String::new();
    for number in 1..=24 {
        let residue = if (3..=22).contains(&number) { "LEU" } else { "LYS" };
        for (name, radius, turn, rise) in backbone {
            let step = f64::from(number) - 12.5;
            let (angle, z) = ((98.93 * step + turn).to_radians(), 1.541 * step + rise + height);
            let (x, y) = (radius * angle.cos(), radius * angle.sin());
            let element = &name[..1];
            text += &format!("ATOM      1  {name:<3} {residue} A{number:4}    ");
            text += &format!("{x:8.3}{y:8.3}{z:8.3}  1.00  0.00           {element}\n");
        }
    }
    // atoms that mark the planes of the membrane, as in files of OPM
    let marks = [('N', -14.0), ('O', 14.0)];
    let mark = |(name, z)| format!("HETATM    2  {name}   DUM  4128      20.000  -6.000{z:8.3}\n");
    text + &marks.map(mark).concat()
}
