//! `mgn verify`.

use std::fs;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Context;
use mgn_fabric::Transport;
use mgn_launch::ssh::Remote;
use mgn_launch::{fixed_clock_library, ClientSettings, Output, RunDir};
use mgn_verify::{Camera, Compared, Error, Run};

use crate::args::Verify;
use crate::launch_plan::{self, elsewhere_advice, exit_status_of};
use crate::output::{print, print_error};
use crate::{defaults, mothership_match, ssh};

const DIFFERENT: u8 = 1;
const NOT_COMPARED: u8 = 2;

pub fn verify(mut args: Verify) -> ExitCode {
    match compare(&mut args) {
        Ok(compared) => report(&args, &compared),
        Err(error) => {
            print_error(&error);
            ExitCode::from(status(&error))
        }
    }
}

fn report(args: &Verify, compared: &Compared) -> ExitCode {
    let mut text = format!("{compared}");
    match &args.out {
        _ if compared.are_equal() => {}
        Some(out) => text.push_str(&format!("; pictures are in {}", out.display())),
        None => text.push_str("; --out DIR keeps their pictures"),
    }
    text.push('\n');
    match print(&text) {
        Ok(()) if compared.are_equal() => ExitCode::SUCCESS,
        Ok(()) => ExitCode::from(DIFFERENT),
        Err(error) => {
            print_error(&error);
            ExitCode::from(NOT_COMPARED)
        }
    }
}

fn status(error: &anyhow::Error) -> u8 {
    let launch = match error.downcast_ref() {
        Some(Error::Launch(launch)) => Some(launch),
        Some(Error::Interrupted(signal)) => return 128 + *signal as u8,
        _ => error.downcast_ref(),
    };
    launch.map_or(NOT_COMPARED, exit_status_of)
}

fn compare(args: &mut Verify) -> anyhow::Result<Compared> {
    if args.every > args.frames {
        anyhow::bail!(
            "--every {} leaves nothing to compare of --frames {}",
            args.every,
            args.frames
        );
    }
    if let Some(transport @ (Transport::Null | Transport::File(_))) = &args.render.transport {
        anyhow::bail!("--transport {transport} draws nothing that could be compared");
    }
    let mut direct = launch_plan::local(&args.render, &args.program)?;
    let mut ours = launch_plan::local(&args.render, &args.program)?;
    defaults::apply_to_program(&mut args.render, None)?;
    launch_plan::check(&args.render, None)?;
    if let Some(out) = &args.out {
        // If the folder cannot be made, this fails now and not after two runs.
        fs::create_dir_all(out)
            .with_context(|| format!("making {} for pictures", out.display()))?;
    }
    let camera = Camera {
        frames: Some(args.frames),
        every: args.every,
        seed: args.seed,
        input: args.input.clone(),
        ..Camera::new(fixed_clock_library()?)
    };
    let camera = match args.step {
        Some(milliseconds) => Camera {
            step: u64::from(milliseconds) * 1_000_000,
            ..camera
        },
        None => camera,
    };
    // Standard output is for the result of the comparison.
    direct.output = Output::Error;
    ours.output = Output::Error;
    let (one, two) = (RunDir::create()?, RunDir::create()?);
    let found = mothership_match::request(&args.render, None, &args.program[0])?;
    let settings = ClientSettings::default();
    let remote = ssh::start_server(&mut args.render)?;
    ours.beside.extend(remote.as_ref().and_then(Remote::pid));
    ours.driver = launch_plan::manganese_driver(&args.render, &two, &[], found.as_ref(), settings)?;
    launch_plan::print_display_problems(&args.render);
    let compared = mgn_verify::verify(
        &camera,
        Run {
            run: one,
            plan: direct,
        },
        Run {
            run: two,
            plan: ours,
        },
        Duration::from_secs(args.timeout),
        args.out.as_deref(),
    );
    compared.map_err(|error| match &error {
        Error::Elsewhere { driver, .. } => {
            let advice = elsewhere_advice(driver);
            anyhow::anyhow!("{error}; {advice}")
        }
        _ => error.into(),
    })
}
