//! The `md` program.

fn main() {}
