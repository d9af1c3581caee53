//! Choice of periodic images of molecules along the minimum spanning tree of the shortest distances between the
//! molecules (Kruskal, Proc. Am. Math. Soc. 7, 48 (1956), doi:10.1090/S0002-9939-1956-0078686-7).
//!
//! Distances are minimum-image distances between atoms. The atoms of a molecule are divided into blocks with bounding
//! spheres. Pairs of blocks are searched within a radius that grows until all molecules are joined, so that only nearby
//! molecules are compared atom by atom. The tree depends only on distances. The images that a file stores and the
//! orientation of the system do not change the tree.

use super::Image;
use crate::cell::PeriodicCell;
use crate::vec3::Vec3;
use std::collections::HashMap;

/// Radius of the first search, nm, which is longer than hydrogen bonds and most contacts.
const FIRST_RADIUS: f64 = 0.3;
/// Maximum number of atoms of a block. With blocks of this size, computing the atomic distances of a pair of blocks
/// costs about as much as finding the pair by comparing bounding spheres.
const BLOCK: usize = 12;

/// Block of nearby atoms of one part.
struct Block {
    part: usize,
    places: Vec<u32>,
    center: Vec3,
    /// radius of the bounding sphere of the atoms about the center, nm
    radius: f64,
}

/// Shortest minimum-image distance between two parts.
#[derive(Clone, Copy)]
struct Link {
    distance: f64,
    parts: [usize; 2],
    /// image in which the second part is nearest to the first part
    image: Image,
}

/// Returns the images in which parts are connected along the minimum spanning tree. The first part keeps its image.
pub(super) fn images(cell: &PeriodicCell, positions: &[Vec3], parts: &[&[u32]]) -> Vec<Image> {
    let mut blocks = vec![];
    for (part, places) in parts.iter().enumerate() {
        divide(part, places.to_vec(), positions, &mut blocks);
    }
    let search = Search { cell, positions, blocks: &blocks };
    let mut joined = Joined { group: (0..parts.len()).collect(), tree: vec![] };
    let mut radius = FIRST_RADIUS;
    // no minimum-image distance exceeds the sum of the edges of the cell
    let longest: f64 = cell.rows().iter().map(|row| row.norm()).sum();
    loop {
        let mut links = search.links(radius, &mut joined);
        links.sort_by(|a, b| a.distance.total_cmp(&b.distance).then(a.parts.cmp(&b.parts)));
        links.into_iter().for_each(|link| joined.join(link));
        if joined.tree.len() + 1 == parts.len() || radius > longest {
            return joined.images(parts.len());
        }
        radius *= 2.0;
    }
}

/// Divides the atoms of a part into blocks. A set of atoms is halved at the middle of its longest extent until each
/// block has at most [`BLOCK`] atoms.
fn divide(part: usize, mut places: Vec<u32>, positions: &[Vec3], blocks: &mut Vec<Block>) {
    let at = |place: &u32| positions[*place as usize];
    let extreme = |choose: fn(f64, f64) -> f64| {
        let fold = |a: Vec3, r: Vec3| Vec3 { x: choose(a.x, r.x), y: choose(a.y, r.y), z: choose(a.z, r.z) };
        places.iter().map(at).reduce(fold).unwrap_or(Vec3::ZERO)
    };
    let (low, high) = (extreme(f64::min), extreme(f64::max));
    if places.len() <= BLOCK {
        let center = (low + high) * 0.5;
        let radius = places.iter().map(|place| (at(place) - center).norm()).fold(0.0, f64::max);
        return blocks.push(Block { part, places, center, radius });
    }
    let extent = (high - low).to_array();
    let axis = (0..3).max_by(|&a, &b| extent[a].total_cmp(&extent[b])).unwrap_or(0);
    let middle = places.len() / 2;
    places.select_nth_unstable_by(middle, |a, b| at(a).to_array()[axis].total_cmp(&at(b).to_array()[axis]));
    let upper = places.split_off(middle);
    divide(part, places, positions, blocks);
    divide(part, upper, positions, blocks);
}

/// Disjoint sets of parts that are already joined by links (union-find).
struct Joined {
    group: Vec<usize>,
    tree: Vec<Link>,
}

impl Joined {
    fn group(&mut self, mut part: usize) -> usize {
        while self.group[part] != part {
            self.group[part] = self.group[self.group[part]];
            part = self.group[part];
        }
        part
    }

    fn join(&mut self, link: Link) {
        let [a, b] = link.parts.map(|part| self.group(part));
        if a != b {
            self.group[a.max(b)] = a.min(b);
            self.tree.push(link);
        }
    }

    /// Returns the image of each part, by a walk along the links of the tree from the first part.
    fn images(&self, parts: usize) -> Vec<Image> {
        let mut links: Vec<Vec<(usize, Image)>> = vec![vec![]; parts];
        for &Link { parts: [a, b], image, .. } in &self.tree {
            links[a].push((b, image));
            links[b].push((a, image.map(|n| -n)));
        }
        let mut images: Vec<Option<Image>> = vec![None; parts];
        let mut reached = vec![];
        for first in 0..parts {
            if images[first].is_none() {
                images[first] = Some([0; 3]);
                reached.push((first, [0; 3]));
            }
            while let Some((part, own)) = reached.pop() {
                for &(other, image) in &links[part] {
                    if images[other].is_none() {
                        let image = [0, 1, 2].map(|k| own[k] + image[k]);
                        images[other] = Some(image);
                        reached.push((other, image));
                    }
                }
            }
        }
        images.into_iter().flatten().collect()
    }
}

/// Data for the search of pairs of blocks whose atoms are near each other.
struct Search<'a> {
    cell: &'a PeriodicCell,
    positions: &'a [Vec3],
    blocks: &'a [Block],
}

impl Search<'_> {
    /// Returns the shortest link between every two sets of parts that are not joined yet, if the link is shorter than
    /// `radius` (nm).
    fn links(&self, radius: f64, joined: &mut Joined) -> Vec<Link> {
        let groups: Vec<usize> = self.blocks.iter().map(|block| joined.group(block.part)).collect();
        // the search does not start from blocks of the largest set; the pairs of this set with another set are found in
        // the search from the other set
        let mut sizes: HashMap<usize, usize> = HashMap::new();
        groups.iter().for_each(|&group| *sizes.entry(group).or_default() += 1);
        let largest = sizes.into_iter().max_by_key(|&(group, size)| (size, group)).map(|(group, _)| group);
        let looks = |i: usize| Some(groups[i]) != largest;
        let mut pairs = vec![];
        self.near(radius, looks, |i, j| {
            if groups[i] != groups[j] {
                let (a, b) = (&self.blocks[i], &self.blocks[j]);
                let bound = self.cell.minimum_image(b.center - a.center).norm() - a.radius - b.radius;
                if bound < radius {
                    pairs.push((bound, i, j));
                }
            }
        });
        pairs.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut shortest: HashMap<[usize; 2], Link> = HashMap::new();
        for (bound, i, j) in pairs {
            let key = [groups[i].min(groups[j]), groups[i].max(groups[j])];
            let known = shortest.get(&key).map_or(radius, |link| link.distance);
            if bound < known {
                let link = self.link(&self.blocks[i], &self.blocks[j]);
                if link.distance < known {
                    shortest.insert(key, link);
                }
            }
        }
        shortest.into_values().collect()
    }

    /// Returns the shortest distance between atoms of two blocks.
    fn link(&self, a: &Block, b: &Block) -> Link {
        let mut shortest = Link { distance: f64::INFINITY, parts: [a.part, b.part], image: [0; 3] };
        // all atoms of both blocks use the minimum image of the block centers, unless another image may give a shorter
        // distance
        let image = self.cell.nearest_image(b.center - a.center);
        let shift = self.cell.shift(image);
        let reach = (b.center + shift - a.center).norm() + a.radius + b.radius;
        let is_unique = reach < self.cell.max_cutoff();
        for &i in &a.places {
            for &j in &b.places {
                let d = self.positions[j as usize] + shift - self.positions[i as usize];
                let further = if is_unique { [0; 3] } else { self.cell.nearest_image(d) };
                let distance = (d + self.cell.shift(further)).norm();
                if distance < shortest.distance {
                    shortest.distance = distance;
                    shortest.image = [0, 1, 2].map(|k| image[k] + further[k]);
                }
            }
        }
        shortest
    }

    /// Calls `visit` once for each pair of nearby blocks, unless `looks` is false for both blocks. The pairs are found
    /// on a grid of block centers. The nearby pairs include all pairs of blocks with atoms within `radius` (nm) of each
    /// other.
    fn near(&self, radius: f64, looks: impl Fn(usize) -> bool, mut visit: impl FnMut(usize, usize)) {
        let widest = self.blocks.iter().map(|block| block.radius).fold(0.0, f64::max);
        let faces = self.cell.face_distances();
        // more grid cells than blocks would not speed up the search
        let most = (self.blocks.len() as f64).cbrt().ceil();
        let counts = faces.map(|face| (face / (radius + 2.0 * widest)).floor().clamp(1.0, most) as usize);
        let cell_of = |block: &Block| {
            let s = self.cell.to_fractional(block.center).to_array();
            [0, 1, 2].map(|k| (((s[k] - s[k].floor()) * counts[k] as f64) as usize).min(counts[k] - 1))
        };
        let number = |[x, y, z]: [usize; 3]| (z * counts[1] + y) * counts[0] + x;
        let mut members: Vec<Vec<usize>> = vec![vec![]; counts.iter().product()];
        let cells: Vec<[usize; 3]> = self.blocks.iter().map(cell_of).collect();
        for (index, &cell) in cells.iter().enumerate() {
            members[number(cell)].push(index);
        }
        // indices of a grid cell and of its two periodic neighbours along one axis, without repetition
        let around = |at: usize, count: usize| {
            let wide = count.min(3);
            (0..wide).map(move |offset| (at + offset + count - usize::from(wide == 3)) % count)
        };
        for (i, &[x, y, z]) in cells.iter().enumerate().filter(|(i, _)| looks(*i)) {
            for z in around(z, counts[2]) {
                for y in around(y, counts[1]) {
                    for x in around(x, counts[0]) {
                        let others = members[number([x, y, z])].iter().filter(|&&j| j > i || !looks(j));
                        others.for_each(|&j| visit(i, j));
                    }
                }
            }
        }
    }
}
