//! Sparse L D Lᵀ factorisation of a symmetric positive definite matrix, in an elimination order that is found once
//! for all matrices with the same pattern.
//!
//! Rows are numbered in elimination order. Column k stores the elements below the diagonal, including all fill-in.

use std::collections::BTreeSet;

/// Sparsity pattern: the positions of the nonzero elements, and the target element of each product that the
/// factorisation subtracts.
#[derive(Debug)]
pub(super) struct Pattern {
    /// start of each column in `rows`
    starts: Vec<u32>,
    /// row of each element, ascending within a column
    rows: Vec<u32>,
    /// index of a target element for each pair of elements p > q in one column; the target is in row `rows[p]` and
    /// column `rows[q]`, and the factorisation subtracts the product of elements p and q from the target
    targets: Vec<u32>,
}

/// Values of one matrix with a given [`Pattern`].
#[derive(Debug)]
pub(super) struct Values {
    /// diagonal of the matrix A; after the factorisation the diagonal of D⁻¹
    pub(super) diagonal: Vec<f64>,
    /// elements of the matrix A below the diagonal; after the factorisation the elements of L
    pub(super) entries: Vec<f64>,
}

/// Finds an elimination order by minimum degree. Among rows of equal degree, the row with the smallest number comes
/// first. Returns the elimination order and the sparsity pattern of L in this order.
///
/// `neighbors[k]` holds the rows coupled to row k, without k itself.
pub(super) fn eliminate(mut neighbors: Vec<BTreeSet<u32>>) -> (Vec<u32>, Pattern) {
    let count = neighbors.len();
    let mut queue: BTreeSet<(usize, u32)> = neighbors.iter().enumerate().map(|(k, n)| (n.len(), k as u32)).collect();
    let mut order = Vec::with_capacity(count);
    let mut columns = Vec::with_capacity(count);
    while let Some((_, node)) = queue.pop_first() {
        let column = std::mem::take(&mut neighbors[node as usize]);
        for &a in &column {
            let set = &mut neighbors[a as usize];
            queue.remove(&(set.len(), a));
            set.remove(&node);
            set.extend(column.iter().filter(|&&b| b != a));
            queue.insert((set.len(), a));
        }
        order.push(node);
        columns.push(column);
    }
    let mut number = vec![0; count];
    for (k, &node) in order.iter().enumerate() {
        number[node as usize] = k as u32;
    }
    (order, Pattern::new(columns.into_iter().map(|c| c.into_iter().map(|a| number[a as usize]).collect()).collect()))
}

impl Pattern {
    fn new(columns: Vec<BTreeSet<u32>>) -> Self {
        let mut starts = vec![0];
        let mut rows = vec![];
        for column in columns {
            rows.extend(column);
            starts.push(rows.len() as u32);
        }
        let mut pattern = Self { starts, rows, targets: vec![] };
        for k in 0..pattern.len() {
            let column = pattern.column(k);
            for p in column.clone() {
                for q in column.start..p {
                    let row = pattern.rows[p];
                    let within = pattern.column(pattern.row(q));
                    let found = pattern.rows[within.clone()].binary_search(&row);
                    pattern
                        .targets
                        .push((within.start + found.expect("elimination couples all rows of a column")) as u32);
                }
            }
        }
        pattern
    }

    /// Number of rows of the matrix.
    pub(super) fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// Indices of the stored elements of column `k`.
    pub(super) fn column(&self, k: usize) -> std::ops::Range<usize> {
        self.starts[k] as usize..self.starts[k + 1] as usize
    }

    /// Row of the stored element `p`.
    pub(super) fn row(&self, p: usize) -> usize {
        self.rows[p] as usize
    }

    /// Allocates a matrix of zeros with this sparsity pattern.
    pub(super) fn values(&self) -> Values {
        Values { diagonal: vec![0.0; self.len()], entries: vec![0.0; self.rows.len()] }
    }

    /// Replaces the matrix A by its factors L and D⁻¹. If A is not positive definite, the factors are infinite or
    /// wrong. The later check of the constraint lengths detects infinite or wrong factors.
    pub(super) fn factor(&self, values: &mut Values) {
        let Values { diagonal, entries } = values;
        let mut targets = self.targets.iter();
        for k in 0..self.len() {
            let inverse = 1.0 / diagonal[k];
            diagonal[k] = inverse;
            let column = self.column(k);
            for p in column.clone() {
                let unscaled = entries[p];
                for (q, &target) in (column.start..p).zip(&mut targets) {
                    entries[target as usize] -= entries[q] * unscaled;
                }
                entries[p] = unscaled * inverse;
                diagonal[self.row(p)] -= unscaled * entries[p];
            }
        }
    }

    /// Returns the vector z with Lᵀz = eₖ, where `values` holds the factors of A. If the pivot of row `k` is zero, then
    /// Az = 0.
    pub(super) fn null_vector(&self, values: &Values, k: usize) -> Vec<f64> {
        let mut z = vec![0.0; self.len()];
        z[k] = 1.0;
        for j in (0..k).rev() {
            z[j] = -self.column(j).map(|p| values.entries[p] * z[self.row(p)]).sum::<f64>();
        }
        z
    }

    /// Replaces the vector b by A⁻¹b, where `values` holds the factors of A.
    pub(super) fn solve(&self, values: &Values, b: &mut [f64]) {
        for k in 0..self.len() {
            for p in self.column(k) {
                b[self.row(p)] -= values.entries[p] * b[k];
            }
        }
        for k in (0..self.len()).rev() {
            b[k] *= values.diagonal[k];
            for p in self.column(k) {
                b[k] -= values.entries[p] * b[self.row(p)];
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chain_fills_in_nothing_and_a_ring_one_entry_a_row() {
        let chain = |n: u32| -> Vec<BTreeSet<u32>> {
            (0..n).map(|k| [k.wrapping_sub(1), k + 1].into_iter().filter(|&a| a < n).collect()).collect()
        };
        assert_eq!(eliminate(chain(50)).1.rows.len(), 49);
        let mut ring = chain(50);
        ring[0].insert(49);
        ring[49].insert(0);
        assert_eq!(eliminate(ring).1.rows.len(), 50 + 47);
    }

    #[test]
    fn solves_what_a_dense_solver_solves() {
        // matrix of the graph of a six-membered ring with a branch; the matrix is diagonally dominant
        let edges = [[0u32, 1], [1, 2], [2, 3], [3, 4], [4, 5], [5, 0], [2, 6], [6, 7]];
        let n = 8;
        let mut neighbors = vec![BTreeSet::new(); n];
        let mut dense = nalgebra::DMatrix::<f64>::identity(n, n) * 4.0;
        for (e, [i, j]) in edges.into_iter().enumerate() {
            neighbors[i as usize].insert(j);
            neighbors[j as usize].insert(i);
            let value = 0.3 + 0.1 * e as f64;
            dense[(i as usize, j as usize)] = value;
            dense[(j as usize, i as usize)] = value;
        }
        let (order, pattern) = eliminate(neighbors);
        let at = |k: usize| order[k] as usize;
        let mut values = pattern.values();
        for k in 0..n {
            values.diagonal[k] = dense[(at(k), at(k))];
            for p in pattern.column(k) {
                values.entries[p] = dense[(at(k), at(pattern.row(p)))];
            }
        }
        pattern.factor(&mut values);
        let mut b: Vec<f64> = (0..n).map(|k| 1.0 + at(k) as f64).collect();
        pattern.solve(&values, &mut b);
        let expected = dense.lu().solve(&nalgebra::DVector::from_fn(n, |i, _| 1.0 + i as f64)).unwrap();
        for k in 0..n {
            // the condition number is below 10, so that the error is a few dozen rounding errors
            assert!((b[k] - expected[at(k)]).abs() < 1e-14);
        }
    }
}
