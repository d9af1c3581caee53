//! The `md` program.

fn main() -> std::process::ExitCode {
    md::cli::main()
}
