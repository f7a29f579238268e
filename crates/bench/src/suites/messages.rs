//! Messages of one layer between two processes, for several suites.

use anyhow::Result;

use crate::net::measure::{Sample, Test};
use crate::net::message_layer::MessageLayer;
use crate::plan::{Figure, Method};
use crate::record::{Kind, Percentiles};

/// Whether two processes exchange messages by shared memory or by sockets.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Means {
    Memory,
    Sockets,
}

impl Means {
    pub fn name(self) -> &'static str {
        match self {
            Means::Memory => "memory",
            Means::Sockets => "sockets",
        }
    }

    pub fn title(self) -> &'static str {
        match self {
            Means::Memory => "shared memory",
            Means::Sockets => "sockets of one host",
        }
    }
}

/// Messages of one layer, for each size.
pub fn messages(
    name: &'static str,
    layer: MessageLayer,
    test: Test,
    sizes: &[usize],
    seconds: f64,
    plot: &str,
) -> Messages {
    let plot = plot.to_string();
    Messages {
        name,
        layer,
        test,
        sizes: sizes.to_vec(),
        seconds,
        figures: Box::new(move |size, sample| figures(&plot, test, size, sample)),
    }
}

fn figures(plot: &str, test: Test, size: usize, sample: &Sample) -> Vec<Figure> {
    let seconds = sample.seconds[0];
    let x = size as f64;
    let us = |seconds: f64| match test {
        Test::Latency => seconds / 2.0 * 1e6,
        _ => seconds * 1e6,
    };
    let value = match test {
        Test::Latency | Test::Exchange => us(seconds),
        _ => sample.window * x / seconds / 1e9,
    };
    let mut figure = Figure::new(plot, x, value).cpu(sample.cpu);
    figure.percentiles = sample
        .percentiles
        .map(|all| Percentiles::from(all.map(|one| one.map(us))));
    let mut figures = vec![figure];
    if test == Test::Both {
        figures.push(Figure::new(&format!("{plot}-sum"), x, 2.0 * value));
    }
    figures
}

/// Returns the figures of a sample for messages of this size.
pub type Reading = dyn Fn(usize, &Sample) -> Vec<Figure>;

/// A test of a layer with messages of each size.
pub struct Messages {
    pub name: &'static str,
    pub layer: MessageLayer,
    pub test: Test,
    pub sizes: Vec<usize>,
    pub seconds: f64,
    pub figures: Box<Reading>,
}

impl Method for Messages {
    fn name(&self) -> String {
        self.name.to_string()
    }

    fn kind(&self) -> Kind {
        self.layer.kind()
    }

    fn command(&self) -> String {
        self.layer.command(self.test, &self.sizes, self.seconds)
    }

    fn missing(&self) -> Option<String> {
        self.layer.missing()
    }

    fn run(&mut self) -> Result<Vec<Figure>> {
        let samples = self.layer.run(self.test, &self.sizes, self.seconds)?;
        let sizes = self.sizes.iter().zip(&samples);
        Ok(sizes
            .flat_map(|(size, sample)| (self.figures)(*size, sample))
            .collect())
    }
}
