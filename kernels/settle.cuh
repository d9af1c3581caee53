// SETTLE in double precision, the counterpart of `src/engine/constraint/settle.rs`, which contains the derivation.

// Geometry and masses of one kind of rigid water.
struct SettleShape {
    double hydrogen_mass;      // amu
    double hydrogen_fraction;  // hydrogen mass / mass of the molecule
    double mass_ratio;         // hydrogen mass / oxygen mass
    double inverse_up;         // 1/nm, inverse distance from the center of mass to the oxygen
    double down;               // nm, distance from the center of mass to the H–H line
    double aside;              // nm, half of the H–H distance
};

// Computes the shape from masses in amu and side lengths in nm. The host has checked that the sides form a triangle.
__device__ inline SettleShape settle_shape(double oxygen_mass, double hydrogen_mass, double oh, double hh) {
    const double height = sqrt(oh * oh - 0.25 * hh * hh), total = oxygen_mass + 2.0 * hydrogen_mass;
    return {hydrogen_mass, hydrogen_mass / total, hydrogen_mass / oxygen_mass, total / (2.0 * hydrogen_mass * height),
            oxygen_mass / total * height, 0.5 * hh};
}

// Computes position corrections (O, H, H; nm) that make the triangle `moved` rigid; `old` is the triangle at the start
// of the step. The result is NaN if the water has turned by 90° or more during the step.
__device__ inline void settle(const SettleShape& shape, const Vec3<double>* old, const Vec3<double>* moved,
                              Vec3<double>* change) {
    const Vec3<double> old_b = old[1] - old[0], old_c = old[2] - old[0];
    // positions relative to the center of mass are computed from differences of positions, because large coordinates
    // would cause rounding errors
    const Vec3<double> new_b = moved[1] - moved[0], new_c = moved[2] - moved[0];
    const Vec3<double> a1 = (new_b + new_c) * -shape.hydrogen_fraction;
    const Vec3<double> b1 = new_b + a1, c1 = new_c + a1;

    // frame: z is along the normal of the old plane, and the new oxygen is in the yz plane
    const Vec3<double> normal = cross(old_b, old_c);
    const Vec3<double> ez = normal * (1.0 / sqrt(norm_squared(normal)));
    const Vec3<double> across = cross(a1, ez);
    const Vec3<double> ex = across * (1.0 / sqrt(norm_squared(across)));
    const Vec3<double> ey = cross(ez, ex);
    const double xb0 = dot(old_b, ex), yb0 = dot(old_b, ey), xc0 = dot(old_c, ex), yc0 = dot(old_c, ey);
    const double xb1 = dot(b1, ex), yb1 = dot(b1, ey), zb1 = dot(b1, ez);
    const double xc1 = dot(c1, ex), yc1 = dot(c1, ey), zc1 = dot(c1, ez);

    // rotations by φ about x and by ψ about y tilt the triangle, which gives the new heights z of the atoms
    const double sin_phi = dot(a1, ez) * shape.inverse_up, cos_phi = sqrt(1.0 - sin_phi * sin_phi);
    const double sin_psi = (zb1 - zc1) / (2.0 * shape.aside) / cos_phi, cos_psi = sqrt(1.0 - sin_psi * sin_psi);
    const double xb2 = -(shape.aside * cos_psi);
    const double level = -(shape.down * cos_phi), lift = shape.aside * sin_psi * sin_phi;
    const double yb2 = level - lift, yc2 = level + lift;

    // rotation by θ within the plane: the angular momentum γ about z is conserved, which requires α sin θ + β cos θ = γ
    const double alpha = xb2 * (xb0 - xc0) + yb0 * yb2 + yc0 * yc2;
    const double beta = xb2 * (yc0 - yb0) + xb0 * yb2 + xc0 * yc2;
    const double gamma = xb0 * yb1 - xb1 * yb0 + xc0 * yc1 - xc1 * yc0;
    const double square = alpha * alpha + beta * beta;
    const double sin_theta = (alpha * gamma - beta * sqrt(square - gamma * gamma)) / square;
    const double cos_theta = sqrt(1.0 - sin_theta * sin_theta);

    const double xb3 = xb2 * cos_theta - yb2 * sin_theta, yb3 = xb2 * sin_theta + yb2 * cos_theta;
    const double xc3 = -(xb2 * cos_theta) - yc2 * sin_theta, yc3 = yc2 * cos_theta - xb2 * sin_theta;
    change[1] = ex * xb3 + ey * yb3 + ez * zb1 - b1;
    change[2] = ex * xc3 + ey * yc3 + ez * zc1 - c1;
    // the displacement of the oxygen conserves the total momentum
    change[0] = (change[1] + change[2]) * -shape.mass_ratio;
}

// Computes the corrections of velocities (O, H, H; nm/ps) that make the time derivatives of all side lengths zero. The
// `positions` need not be a rigid triangle. The multipliers of the three sides follow from a symmetric system of linear
// equations by elimination, with masses in units of the hydrogen mass.
__device__ inline void settle_project(const SettleShape& shape, const Vec3<double>* positions,
                                      const Vec3<double>* velocities, Vec3<double>* change) {
    const double ratio = shape.mass_ratio;
    // sides from the oxygen to both hydrogens, and from the first to the second hydrogen
    const Vec3<double> b = positions[1] - positions[0], c = positions[2] - positions[0], e = c - b;
    const Vec3<double> vb = velocities[1] - velocities[0], vc = velocities[2] - velocities[0];
    const double bb = norm_squared(b) * (1.0 + ratio), bc = dot(b, c) * ratio, be = -dot(b, e);
    // elimination of the first, then of the second multiplier
    const double lc = bc / bb, le = be / bb;
    const double cc = norm_squared(c) * (1.0 + ratio) - lc * bc, ce = dot(c, e) - lc * be;
    const double me = ce / cc, ee = 2.0 * norm_squared(e) - le * be - me * ce;
    const double stretch_b = -dot(b, vb), stretch_c = -dot(c, vc) - lc * stretch_b;
    const double of_e = (-dot(e, vc - vb) - le * stretch_b - me * stretch_c) / ee;
    const double of_c = stretch_c / cc - me * of_e;
    const double of_b = stretch_b / bb - lc * of_c - le * of_e;
    change[1] = b * of_b - e * of_e;
    change[2] = c * of_c + e * of_e;
    change[0] = (change[1] + change[2]) * -ratio;
}
