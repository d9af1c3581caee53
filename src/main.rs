//! Executable `md`, which calls the command line of the library.

#[global_allocator]
static ALLOCATOR: md::memory::LargePages = md::memory::LargePages;

fn main() -> std::process::ExitCode {
    md::cli::main()
}
