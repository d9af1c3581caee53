//! Extent of a set of points: bounding box, diameter and principal axes. Lengths are in nm.

use md_engine::superpose::correlation;
use md_engine::vec3::{Vec3, vec3};
use nalgebra::{Matrix3, SymmetricEigen};

/// Largest number of points for which all mutual distances are computed. This number of points takes about a second.
const MOST_CANDIDATES: usize = 40_000;

/// Lowest and highest corner of the bounding box; `None` without points.
pub(super) fn bounds(points: &[Vec3]) -> Option<[Vec3; 2]> {
    let first = *points.first()?;
    Some(points.iter().fold([first; 2], |[low, high], p| {
        [vec3(low.x.min(p.x), low.y.min(p.y), low.z.min(p.z)), vec3(high.x.max(p.x), high.y.max(p.y), high.z.max(p.z))]
    }))
}

/// Largest distance between two points; zero without points.
///
/// Two points at distances r and s from a center are at most r + s apart. A pair is skipped if the bound r + s does not
/// exceed the largest distance found so far. If the points fill a sphere, the skipping of pairs may still leave more
/// than [`MOST_CANDIDATES`] points. If too many points remain, the function returns the diameter of a sphere around all
/// points, which is slightly larger than the exact value.
pub(super) fn diameter(points: &[Vec3]) -> f64 {
    let Some([low, high]) = bounds(points) else { return 0.0 };
    let center = (low + high) * 0.5;
    let mut by_radius: Vec<(f64, Vec3)> = points.iter().map(|&p| ((p - center).norm(), p)).collect();
    by_radius.sort_by(|a, b| b.0.total_cmp(&a.0));
    let (outermost, start) = by_radius[0];
    let farthest_from = |from: Vec3| {
        let distances = points.iter().map(|&p| ((p - from).norm(), p));
        distances.fold((0.0, from), |best, next| if next.0 > best.0 { next } else { best })
    };
    let (_, end) = farthest_from(start);
    let (mut longest, _) = farthest_from(end);
    let candidates = by_radius.partition_point(|(radius, _)| radius + outermost > longest);
    if candidates > MOST_CANDIDATES {
        return 2.0 * outermost;
    }
    for (at, &(radius, point)) in by_radius[..candidates].iter().enumerate() {
        for &(other_radius, other) in &by_radius[..at] {
            if radius + other_radius <= longest {
                break;
            }
            longest = longest.max((point - other).norm());
        }
    }
    longest
}

/// Principal axes of the points with equal weights, as a right-handed system. The axis of the largest extent comes
/// first.
pub(super) fn principal_axes(points: &[Vec3]) -> [Vec3; 3] {
    let center = points.iter().copied().sum::<Vec3>() / points.len().max(1) as f64;
    let matrix = Matrix3::from_fn({
        let m = correlation(points.iter().map(|&p| (p - center, p - center)));
        move |i, j| m[i][j]
    });
    let eigen = SymmetricEigen::new(matrix);
    let mut order = [0, 1, 2];
    order.sort_by(|&i, &j| eigen.eigenvalues[j].total_cmp(&eigen.eigenvalues[i]));
    let axis = |k: usize| {
        let column = eigen.eigenvectors.column(order[k]);
        vec3(column[0], column[1], column[2])
    };
    let (first, second) = (axis(0), axis(1));
    [first, second, first.cross(second)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use md_engine::rng::{Purpose, Stream};
    use proptest::prelude::*;

    fn cloud(count: usize, stretch: Vec3) -> Vec<Vec3> {
        let mut random = Stream::new(1, Purpose::Test, 0, 0);
        (0..count).map(|_| vec3(random.gaussian(), random.gaussian(), random.gaussian()).stretched(stretch)).collect()
    }

    fn brute_force(points: &[Vec3]) -> f64 {
        points.iter().flat_map(|&p| points.iter().map(move |&q| (p - q).norm())).fold(0.0, f64::max)
    }

    #[test]
    fn the_diameter_is_the_longest_distance() {
        for stretch in [vec3(1.0, 1.0, 1.0), vec3(3.0, 1.0, 0.1), vec3(0.0, 0.0, 1.0)] {
            let points = cloud(500, stretch);
            assert_eq!(diameter(&points), brute_force(&points));
        }
        assert_eq!([diameter(&[]), diameter(&[Vec3::splat(3.0)])], [0.0; 2]);
    }

    #[test]
    fn the_diameter_of_many_points_on_a_sphere_is_bounded() {
        let points: Vec<Vec3> = cloud(100_000, Vec3::splat(1.0)).iter().map(|&p| p / p.norm()).collect();
        let found = diameter(&points);
        assert!((1.9999..2.01).contains(&found), "{found}");
    }

    #[test]
    fn principal_axes_are_those_of_the_cloud() {
        let [x, y, z] = principal_axes(&cloud(5000, vec3(1.0, 4.0, 0.2)));
        assert!(x.y.abs() > 0.999 && y.x.abs() > 0.999 && z.z.abs() > 0.999, "{x:?} {y:?} {z:?}");
        assert!((x.cross(y).dot(z) - 1.0).abs() < 1e-12);
    }

    proptest::proptest! {
        #[test]
        fn any_points_have_a_diameter(raw in prop::collection::vec([-9.0f64..9.0, -9.0..9.0, -1.0..1.0], 0..60)) {
            let points: Vec<Vec3> = raw.into_iter().map(Vec3::from).collect();
            prop_assert_eq!(diameter(&points), brute_force(&points));
        }
    }
}
