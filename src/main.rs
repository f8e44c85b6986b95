//! The t4a program.

fn main() -> std::process::ExitCode {
    t4a::cli::main()
}
