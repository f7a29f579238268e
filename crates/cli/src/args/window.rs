//! The window that programs draw into together.

use clap::Args;
use mgn_wire::hello::SharedWindow;

#[derive(Debug, Args)]
pub struct Window {
    /// Draw into the window NAME together with other programs
    ///
    /// All of them give the same NAME, name the same servers by --server, and give the same --wall
    /// if there is one. For a wall of the mothership's file, leave out --server. They order their
    /// drawing by barriers and semaphores (GL_CR_synchronization, see
    /// share/doc/manganese/windows.md).
    #[arg(long, value_name = "NAME", env = "MGN_SHARED_WINDOW")]
    #[arg(conflicts_with_all = ["ssh", "discard", "spu"])]
    pub shared_window: Option<String>,

    /// How many programs draw into the window together
    ///
    /// The server then refuses further programs, and detects at once a wait that can never end.
    #[arg(
        long,
        value_name = "N",
        requires = "shared_window",
        env = "MGN_WINDOW_CLIENTS"
    )]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=i64::from(SharedWindow::CLIENTS_MAX)))]
    pub window_clients: Option<u32>,

    /// How long the programs of a window wait for a program that has not joined yet
    #[arg(
        long,
        value_name = "SECONDS",
        requires = "shared_window",
        env = "MGN_WINDOW_WAIT"
    )]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=i64::from(SharedWindow::PATIENCE_MAX)))]
    #[arg(default_value_t = SharedWindow::PATIENCE_DEFAULT)]
    pub window_wait: u32,
}
