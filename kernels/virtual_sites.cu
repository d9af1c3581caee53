// Virtual sites, the counterpart of `src/engine/virtual_sites`: positions of sites from the positions of atoms, and
// spreading of forces on sites to these atoms. One thread handles a cluster of sites that depend on each other. All
// arithmetic is in double precision.

// Returns the unit vector u/|u|.
__device__ inline Vec3<double> direction(Vec3<double> u) {
    return u * inverse_norm(norm_squared(u));
}

// Converts a derivative with respect to u/|u| to a derivative with respect to u.
__device__ inline Vec3<double> through_direction(Vec3<double> u, Vec3<double> factor) {
    const double inverse = inverse_norm(norm_squared(u));
    const Vec3<double> along = u * inverse;
    return (factor - along * dot(along, factor)) * inverse;
}

// Origin of a local frame, and the two vectors that define its axes.
struct LocalFrame {
    Vec3<double> origin, u, v;

    __device__ void axes(Vec3<double>& x, Vec3<double>& y, Vec3<double>& z) const {
        x = direction(u);
        z = direction(cross(u, v));
        y = cross(z, x);
    }
};

// A site and the atoms from which it is constructed. `src/engine/backend/cuda/layout/sites.rs` lists the parameters of
// a site.
struct Site {
    const Arguments& a;
    VirtualSite site;

    __device__ u32 atom(u32 k) const {
        return a.site_atoms[site.first_atom + k];
    }
    __device__ Vec3<double> at(u32 k) const {
        return a.positions[atom(k)];
    }
    // Returns the displacement r_k − r_j.
    __device__ Vec3<double> from(u32 j, u32 k) const {
        return at(k) - at(j);
    }
    __device__ double parameter(u32 k) const {
        return a.site_parameters[site.first_parameter + k];
    }
    // Returns component `which` of the weights of atom k in a local frame. In the list of parameters the weights come
    // after the position of the site in the frame.
    __device__ double frame_weight(u32 k, u32 which) const {
        return parameter(3 + 3 * k + which);
    }

    __device__ LocalFrame frame() const {
        const Vec3<double> zero = vec3(0.0, 0.0, 0.0);
        LocalFrame frame = {zero, zero, zero};
        for (u32 k = 0; k < site.atoms; ++k) {
            frame.origin = frame.origin + at(k) * frame_weight(k, 0);
            frame.u = frame.u + at(k) * frame_weight(k, 1);
            frame.v = frame.v + at(k) * frame_weight(k, 2);
        }
        return frame;
    }

    __device__ Vec3<double> average() const {
        Vec3<double> sum = vec3(0.0, 0.0, 0.0);
        for (u32 k = 0; k < site.atoms; ++k) sum = sum + at(k) * parameter(k);
        return sum;
    }

    // Returns the component of r_jk perpendicular to r_ij, in the plane of the three atoms.
    __device__ Vec3<double> across(Vec3<double> along, Vec3<double> jk) const {
        return jk - along * dot(along, jk);
    }

    // Computes the vectors a r_ik − r_ij and b r_il − r_ij with the parameters a and b of the site. The site is
    // displaced from atom i along the cross product of the two vectors.
    __device__ void sides(Vec3<double>& ja, Vec3<double>& jb) const {
        ja = from(0, 2) * parameter(0) - from(0, 1);
        jb = from(0, 3) * parameter(1) - from(0, 1);
    }

    __device__ Vec3<double> position() const {
        switch (site.kind) {
        case SITE_AVERAGE: return average();
        case SITE_FIXED_DISTANCE2: return at(0) + direction(from(0, 1)) * parameter(0);
        case SITE_FIXED_DISTANCE3: return at(0) + direction(from(0, 1) + from(1, 2) * parameter(0)) * parameter(1);
        case SITE_FIXED_ANGLE3: {
            const Vec3<double> along = direction(from(0, 1));
            return at(0) + along * parameter(0) + direction(across(along, from(1, 2))) * parameter(1);
        }
        case SITE_OUT_OF_PLANE: {
            const Vec3<double> ij = from(0, 1), ik = from(0, 2);
            return at(0) + ij * parameter(0) + ik * parameter(1) + cross(ij, ik) * parameter(2);
        }
        case SITE_FIXED_DISTANCE4: {
            Vec3<double> ja, jb;
            sides(ja, jb);
            return at(0) + direction(cross(ja, jb)) * parameter(2);
        }
        default: {
            const LocalFrame made = frame();
            Vec3<double> x, y, z;
            made.axes(x, y, z);
            return made.origin + x * parameter(0) + y * parameter(1) + z * parameter(2);
        }
        }
    }

    // Spreads `force` on the site: calls `add` with the index of each constructing atom and the force (kJ/mol/nm) on
    // this atom.
    template <class Add>
    __device__ void spread(Vec3<double> force, Add add) const {
        switch (site.kind) {
        case SITE_AVERAGE:
            for (u32 k = 0; k < site.atoms; ++k) add(k, force * parameter(k));
            return;
        case SITE_FIXED_DISTANCE2: {
            const Vec3<double> of_ij = through_direction(from(0, 1), force * parameter(0));
            add(0, force - of_ij);
            return add(1, of_ij);
        }
        case SITE_FIXED_DISTANCE3: {
            const double weight = parameter(0);
            const Vec3<double> of_s = through_direction(from(0, 1) + from(1, 2) * weight, force * parameter(1));
            add(0, force - of_s);
            add(1, of_s * (1.0 - weight));
            return add(2, of_s * weight);
        }
        case SITE_FIXED_ANGLE3: return spread_fixed_angle(force, add);
        case SITE_OUT_OF_PLANE: {
            const double c = parameter(2);
            const Vec3<double> ij = from(0, 1), ik = from(0, 2);
            const Vec3<double> of_ij = force * parameter(0) + cross(ik, force) * c;
            const Vec3<double> of_ik = force * parameter(1) + cross(force, ij) * c;
            add(0, force - of_ij - of_ik);
            add(1, of_ij);
            return add(2, of_ik);
        }
        case SITE_FIXED_DISTANCE4: return spread_normal(force, add);
        default: return spread_frame(force, add);
        }
    }

    template <class Add>
    __device__ void spread_fixed_angle(Vec3<double> force, Add add) const {
        const Vec3<double> ij = from(0, 1), jk = from(1, 2), along = direction(ij);
        const Vec3<double> of_s = through_direction(across(along, jk), force * parameter(1));
        const Vec3<double> of_along = force * parameter(0) - of_s * dot(along, jk) - jk * dot(along, of_s);
        const Vec3<double> of_ij = through_direction(ij, of_along), of_jk = across(along, of_s);
        add(0, force - of_ij);
        add(1, of_ij - of_jk);
        add(2, of_jk);
    }

    template <class Add>
    __device__ void spread_normal(Vec3<double> force, Add add) const {
        Vec3<double> ja, jb;
        sides(ja, jb);
        const Vec3<double> of_cross = through_direction(cross(ja, jb), force * parameter(2));
        const Vec3<double> of_ja = cross(jb, of_cross), of_jb = cross(of_cross, ja);
        const Vec3<double> of_ij = -(of_ja + of_jb), of_ik = of_ja * parameter(0), of_il = of_jb * parameter(1);
        add(0, force - of_ij - of_ik - of_il);
        add(1, of_ij);
        add(2, of_ik);
        add(3, of_il);
    }

    template <class Add>
    __device__ void spread_frame(Vec3<double> force, Add add) const {
        const LocalFrame made = frame();
        Vec3<double> x, y, z;
        made.axes(x, y, z);
        // ŷ = ẑ × x̂
        const Vec3<double> of_y = force * parameter(1);
        const Vec3<double> of_z = force * parameter(2) + cross(x, of_y);
        const Vec3<double> of_x = force * parameter(0) + cross(of_y, z);
        const Vec3<double> of_cross = through_direction(cross(made.u, made.v), of_z);
        const Vec3<double> of_u = through_direction(made.u, of_x) + cross(made.v, of_cross);
        const Vec3<double> of_v = cross(of_cross, made.u);
        for (u32 k = 0; k < site.atoms; ++k)
            add(k, force * frame_weight(k, 0) + of_u * frame_weight(k, 1) + of_v * frame_weight(k, 2));
    }
};

// Places all sites. If `moved` is not zero, a step has moved the atoms, and the function first stores the present
// positions of the sites as the old positions.
extern "C" __global__ void place_sites(const Arguments a, const double moved) {
    const u32 cluster = thread_number();
    if (cluster >= a.site_clusters || halted(a)) return;
    for (u32 k = a.site_starts[cluster]; k < a.site_starts[cluster + 1]; ++k) {
        const Site site = {a, a.virtual_sites[k]};
        const u32 atom = site.site.site;
        if (moved != 0.0) a.old[atom] = a.positions[atom];
        a.positions[atom] = site.position();
    }
}

// Returns the force (kJ/mol/nm) on the atom in a slot and clears this force. The function uses an atomic exchange, so
// that the returned force includes all earlier atomic additions of the same thread.
__device__ inline Vec3<double> take_force(const Arguments& a, u32 slot) {
    double components[3];
    for (u32 axis = 0; axis < 3; ++axis) {
        u64* sum = reinterpret_cast<u64*>(&a.forces[slot + axis * a.slots]);
        components[axis] = static_cast<i64>(atomicExch(sum, u64(0))) * (1.0 / FORCE_SCALE);
    }
    return vec3(components[0], components[1], components[2]);
}

// Spreads the forces on sites to their constructing atoms, and adds the resulting change of the virial W = Σ r⊗F.
template <bool SUMS>
__device__ inline void spread_sites_of(const Arguments& a) {
    if (halted(a)) return;
    const u32 cluster = thread_number();
    Tensor virial = {};
    if (cluster < a.site_clusters) {
        const u32 first = a.site_starts[cluster];
        // sites are processed in reverse order, because the force on a site is complete only after the forces on all
        // dependent sites have been spread
        for (u32 k = a.site_starts[cluster + 1]; k > first; --k) {
            const Site site = {a, a.virtual_sites[k - 1]};
            const Vec3<double> origin = a.positions[site.site.site];
            site.spread(take_force(a, a.atom_slot[site.site.site]), [&](u32 number, Vec3<double> force) {
                const u32 atom = site.atom(number);
                add_force(a, a.atom_slot[atom], force);
                if (SUMS) add_outer(virial, a.positions[atom] - origin, force);
            });
        }
    }
    if (SUMS) add_tensor(a, SUM_VIRIAL, virial);
}

extern "C" __global__ void spread_sites(const Arguments a, const double) {
    spread_sites_of<false>(a);
}
extern "C" __global__ void spread_sites_sums(const Arguments a, const double) {
    spread_sites_of<true>(a);
}
