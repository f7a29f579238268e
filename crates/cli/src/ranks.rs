//! `mgn run` as several copies of a program: how they are started, and the rank of each.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::Context;
use mgn_composite::{TOLD, UNTOLD};
use mgn_fabric::job::Job;
use mgn_fabric::Transport;
use mgn_launch::{find_xvfb, Composite, Driver, JobEnd, Rules, RunDir, SwapBarrier, Xvfb};
use mgn_wall::{Fit, Target, Wall};

use crate::args::{words_of_a_rank, Run};
use crate::output::tell;

/// The rank of this run in its job.
pub struct Rank {
    rank: u32,
    size: u32,
    name: String,
    hosts: Vec<String>,
}

impl Rank {
    /// The rank that the launcher has set; `None` for a run that is not part of a job.
    pub fn find(args: &Run) -> anyhow::Result<Option<Rank>> {
        let ranks = &args.ranks;
        if ranks.composite.is_none() && ranks.swap_barrier.is_none() && ranks.ranked.is_none() {
            return Ok(None);
        }
        let Some(job) = Job::of_program()? else {
            if ranks.composite.is_none() {
                anyhow::bail!("--swap-barrier lets several programs wait for each other, and this is the only rank: add -np N, or start the ranks with mpirun or srun");
            }
            anyhow::bail!("--composite makes one picture of several, and this is the only rank: add -np N, or start the ranks with mpirun or srun");
        };
        Ok(Some(Rank {
            rank: job.rank(),
            size: job.size(),
            name: job.name().to_owned(),
            hosts: job.hosts().to_vec(),
        }))
    }

    /// Replaces the rank and the size in the program's arguments. Removes the flags that apply to
    /// rank 0 alone from those of the other ranks.
    pub fn apply(&self, args: &mut Run) -> anyhow::Result<()> {
        for argument in &mut args.program[1..] {
            *argument = expanded(argument, self.rank, self.size);
        }
        let Some(recipe) = &args.ranks.composite else {
            return Ok(());
        };
        recipe
            .check(self.size as usize)
            .with_context(|| format!("--composite {recipe}"))?;
        if self.rank == 0 {
            return Ok(());
        }
        args.save = None;
        args.viewer.clear();
        args.stats = false;
        args.stats_json = None;
        // The windows of the other ranks stay empty, so they are hidden if Xvfb is installed.
        let is_placed = args.render.display.is_some() || args.ranks.ranked.is_some();
        args.render.headless |= !is_placed && find_xvfb().is_some();
        Ok(())
    }

    /// Lets the tiles of the run's wall show composited pictures. Rank 0 decides where they are
    /// shown.
    pub fn apply_to_wall(&self, driver: &mut Driver) -> anyhow::Result<()> {
        let Driver::Ours { settings, .. } = driver else {
            return Ok(());
        };
        let Some(text) = &settings.wall else {
            return Ok(());
        };
        let mut wall = Wall::from_json(text)?;
        let replicas = wall.tiles.iter().filter_map(|tile| tile.replica.as_ref());
        let mut fits = replicas.map(|replica| replica.fit).chain([wall.fit]);
        if fits.any(|fit| fit == Fit::Window) {
            // The windows would change their sizes at different frames.
            anyhow::bail!(
                "the wall {} has fit = \"window\", and --composite cannot resize the windows of \
                 all ranks at the same frame; give the wall fit = \"1:1\" or \"scale\", and start \
                 the program with a window of {} x {} pixels",
                wall.name,
                wall.size.0,
                wall.size.1
            );
        }
        if self.rank > 0 {
            for tile in &mut wall.tiles {
                tile.present = vec![Target::Program];
            }
            settings.wall = Some(wall.to_json());
        }
        Ok(())
    }

    /// Whether this rank prints messages that are the same for all ranks.
    pub fn prints_common_messages(&self) -> bool {
        self.rank == 0
    }

    /// The variables that tell the program and the client library in it their rank.
    pub fn environment(
        &self,
        run: &RunDir,
        token_file: Option<&Path>,
    ) -> anyhow::Result<Vec<(OsString, OsString)>> {
        let mut variables = vec![
            ("MGN_RANK".into(), self.rank.to_string().into()),
            ("MGN_SIZE".into(), self.size.to_string().into()),
            ("MGN_JOB".into(), self.name.clone().into()),
        ];
        let first = self.hosts.first();
        if self.hosts.iter().any(|host| Some(host) != first) {
            let file = run.join("hosts");
            let lines: Vec<String> = self
                .hosts
                .iter()
                .map(|host| format!("{host} slots=1\n"))
                .collect();
            fs::write(&file, lines.concat()).context("writing the hosts of the ranks")?;
            variables.push(("MGN_HOSTFILE".into(), file.into()));
            // The token of the server, which is in another variable, may be a different one.
            let token = token_file.context("the ranks are on several hosts and need a secret: run mgn token new FILE, copy the file to all hosts, and set MGN_TOKEN_FILE to it")?;
            variables.push((
                "MGN_COMPOSITE_TOKEN_FILE".into(),
                std::path::absolute(token)?.into(),
            ));
        }
        Ok(variables)
    }
}

/// The client library's settings for compositing.
pub fn composite_settings(args: &Run) -> Option<Composite> {
    let recipe = args.ranks.composite.as_ref()?;
    Some(Composite {
        recipe: recipe.to_string(),
        patience: args.ranks.composite_timeout,
    })
}

/// The client library's settings for the barrier before swaps.
pub fn swap_barrier_settings(args: &Run) -> Option<SwapBarrier> {
    let choice = args.ranks.swap_barrier.as_ref()?;
    Some(SwapBarrier {
        choice: choice.to_string(),
        patience: args.ranks.swap_timeout,
    })
}

/// Refuses flags that contradict the flags for several copies.
pub fn check(args: &Run) -> anyhow::Result<()> {
    let ranks = &args.ranks;
    if let (Some(Transport::Null | Transport::File(_)), Some(recipe)) =
        (&args.render.transport, &ranks.composite)
    {
        anyhow::bail!(
            "--composite {recipe} needs renderers; leave out --transport or name another"
        );
    }
    if ranks.np.is_some() && ranks.composite.is_none() {
        let single = [
            ("--save", args.save.is_some()),
            ("--stats-json", args.stats_json.is_some()),
        ];
        if let Some((flag, _)) = single.iter().find(|(_, is_given)| *is_given) {
            anyhow::bail!("all copies would write to the same place: leave out {flag}, or add --composite; {flag} then applies to the merged picture");
        }
    }
    Ok(())
}

/// Runs the copies. Returns the exit status.
pub fn launch(args: &Run, copies: u32) -> anyhow::Result<u8> {
    check(args)?;
    if let Some(recipe) = &args.ranks.composite {
        recipe
            .check(copies as usize)
            .with_context(|| format!("--composite {recipe}"))?;
    }
    let run = RunDir::create()?;
    let is_headless = args.render.headless;
    let is_composited = args.ranks.composite.is_some();
    // All hidden copies share one X server.
    let is_hidden =
        is_headless || is_composited && args.render.display.is_none() && find_xvfb().is_some();
    let xvfb = (is_hidden && (is_headless || copies > 1)).then(|| Xvfb::start(&run));
    let xvfb = xvfb.transpose()?;
    let words = words_of_a_rank();
    let command = |rank: u32| -> anyhow::Result<Command> {
        let executable = std::env::current_exe().context("finding the mgn executable")?;
        let mut command = Command::new(executable);
        command.args(["run".as_ref(), "--ranked".as_ref(), run.path().as_os_str()]);
        command.args(&words);
        command.env("MGN_RANK", rank.to_string());
        command.env("MGN_SIZE", copies.to_string());
        command.env("MGN_JOB", format!("run-{}", std::process::id()));
        command.env("MGN_SUPERVISED", "1");
        command.env_remove("MGN_HOSTFILE");
        if rank > 0 {
            command.stdin(Stdio::null());
        }
        if let Some(xvfb) = xvfb.as_ref().filter(|_| is_headless || rank > 0) {
            command.env("DISPLAY", xvfb.display());
            command.env("XAUTHORITY", xvfb.authority());
        }
        Ok(command)
    };
    let commands = (0..copies).map(command).collect::<anyhow::Result<_>>()?;
    let says_why = is_composited || args.ranks.swap_barrier.is_some();
    let rules = Rules {
        are_led: is_composited,
        told: says_why.then_some(TOLD.into()),
        untold: says_why.then_some(UNTOLD.into()),
    };
    Ok(match mgn_launch::Ranks::start(commands, rules)?.wait()? {
        JobEnd::Well => 0,
        JobEnd::Signal(signal) => u8::try_from(128 + signal).unwrap_or(u8::MAX),
        JobEnd::Rank { rank, status } => {
            let end = match status {
                129.. => format!("was ended by signal {}", status - 128),
                _ => format!("has ended with status {status}"),
            };
            if rules.told != Some(status) {
                tell(format!(
                    "mgn: rank {rank} {end}; the other ranks have ended too"
                ));
            }
            u8::try_from(status).unwrap_or(u8::MAX)
        }
    })
}

/// An argument with `%r`, `%n` and `%%` replaced.
fn expanded(argument: &OsStr, rank: u32, size: u32) -> OsString {
    let mut bytes = Vec::new();
    let mut rest = argument.as_bytes();
    while let [first, after @ ..] = rest {
        rest = after;
        match (first, after) {
            (b'%', [b'r', after @ ..]) => {
                bytes.extend(rank.to_string().bytes());
                rest = after;
            }
            (b'%', [b'n', after @ ..]) => {
                bytes.extend(size.to_string().bytes());
                rest = after;
            }
            (b'%', [b'%', after @ ..]) => {
                bytes.push(b'%');
                rest = after;
            }
            _ => bytes.push(*first),
        }
    }
    OsString::from_vec(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rank_and_size_stand_in_arguments() {
        let expand = |text: &str| expanded(text.as_ref(), 3, 12).into_string().unwrap();
        assert_eq!(expand("--part=%r/%n"), "--part=3/12");
        assert_eq!(expand("%r%n"), "312");
        assert_eq!(expand("100%% %%r %d %"), "100% %r %d %");
        assert_eq!(expand(""), "");
    }
}
