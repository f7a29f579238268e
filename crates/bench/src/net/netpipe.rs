//! NetPIPE, an independent program, as a check of our measurements of other libraries.

use std::fs;

use anyhow::{Context, Result};
use mgn_launch::inspect::in_path;

use crate::argv::Argv;
use crate::net::peers::{task, MpiLibrary, MpiSettings, PeerPrograms, PAIR_TIMEOUT};

/// A measurement by NetPIPE.
#[derive(Clone, Copy, Debug)]
pub struct NetPipe {
    pub library: MpiLibrary,
    pub settings: MpiSettings,
    /// In ascending order.
    pub sizes: &'static [usize],
    /// Measures one direction only, instead of round trips.
    pub is_stream: bool,
}

/// The name of the program in Debian.
pub fn program(library: MpiLibrary) -> &'static str {
    match library {
        MpiLibrary::OpenMpi => "NPopenmpi",
        MpiLibrary::Mpich => "NPmpich2",
    }
}

impl NetPipe {
    fn program(&self) -> &'static str {
        program(self.library)
    }

    /// The reason why NetPIPE cannot be run on this machine, or `None` if it can.
    pub fn missing(&self, peers: &PeerPrograms) -> Option<String> {
        let (start, library) = (self.library.starter(), self.library.name());
        let wanted = [start, self.program()];
        let missing = wanted
            .into_iter()
            .filter(|name| in_path(name.as_ref()).is_none());
        let missing: Vec<&str> = missing.collect();
        let words = || {
            format!(
                "NetPIPE for {library} is not installed: there is no {}",
                missing.join(" and no ")
            )
        };
        (!missing.is_empty())
            .then(words)
            .or_else(|| peers.hung(start, &self.task()))
    }

    fn task(&self) -> String {
        task(self.program(), &self.settings)
    }

    /// The command. It measures as few additional sizes as the options of NetPIPE allow.
    pub fn argv(&self, peers: &PeerPrograms) -> Argv {
        let (least, most) = (self.sizes[0], self.sizes[self.sizes.len() - 1]);
        let start = self.settings.start(self.library, 2).args([self.program()]);
        let argv = start
            .args(["-l", &least.to_string(), "-u", &most.to_string()])
            .args(["-p", "0", "-n", "300"]);
        let argv = argv.args(self.is_stream.then_some("-s"));
        argv.args(["-o", &peers.file(self.program()).display().to_string()])
    }

    /// The seconds per message: half of a round trip. For a stream: the total time divided by the
    /// number of messages.
    pub fn run(&self, peers: &PeerPrograms) -> Result<Vec<f64>> {
        peers.write(self.program(), "")?;
        peers.run(&self.argv(peers), &self.task(), PAIR_TIMEOUT)?;
        let text = fs::read_to_string(peers.file(self.program()))?;
        times(&text, self.sizes).with_context(|| self.program())
    }
}

/// Parses lines with the size, the rate and the time. The time is computed from the rate, which has
/// more digits. The rate is in units of 1024 x 1024 bits per second.
fn times(text: &str, sizes: &[usize]) -> Result<Vec<f64>> {
    let line = |line: &str| -> Option<(usize, f64)> {
        let mut words = line.split_whitespace();
        let (size, rate) = (words.next()?, words.next()?);
        Some((size.parse().ok()?, rate.parse().ok()?))
    };
    let of_size = |size: &usize| {
        let mut lines = text.lines().filter_map(line);
        let found = lines.find(|(other, rate)| other == size && *rate > 0.0);
        let (_, rate) =
            found.with_context(|| format!("it printed no result for messages of {size} B"))?;
        Ok((*size * 8) as f64 / (rate * 1024.0 * 1024.0))
    };
    sizes.iter().map(of_size).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::net::peers::OPEN_MPI_TCP;

    /// The output of NetPIPE 3.7.2.
    const OUTPUT: &str = "       8 165.161290   0.00000037
      12 208.695652   0.00000044
    4096 11661.209964   0.00000268
   65536 39397.933496   0.00001269
";

    #[test]
    fn output_is_parsed() {
        let found = times(OUTPUT, &[8, 4096, 65536]).unwrap();
        for (time, rounded) in found.iter().zip([0.37e-6, 2.68e-6, 12.69e-6]) {
            assert!((time - rounded).abs() < 0.5e-8, "{time}: {rounded}");
        }
        let error = times(OUTPUT, &[8, 64]).unwrap_err().to_string();
        assert!(error.contains("64 B"), "{error}");
        assert!(times("", &[8]).is_err() && times("8 0.0 0.0\n", &[8]).is_err());
    }

    #[test]
    fn command_lines_are_as_shown() {
        let netpipe = NetPipe {
            library: MpiLibrary::OpenMpi,
            settings: OPEN_MPI_TCP,
            sizes: &[64, 4096],
            is_stream: true,
        };
        let shell_command = netpipe
            .argv(&PeerPrograms::new("run/programs".into()))
            .to_string();
        let end = "lo NPopenmpi -l 64 -u 4096 -p 0 -n 300 -s -o run/programs/NPopenmpi";
        assert!(shell_command.ends_with(end), "{shell_command}");
    }
}
