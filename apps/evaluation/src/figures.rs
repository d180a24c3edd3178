//! Figures 3 and 4: how many stores a thread's buffer held whenever it drained, a panel for each program.
//!
//! Bars show shares of a program's flushes, so that programs of 32 and of millions of stores read alike; the models
//! stand side by side.

use std::collections::BTreeMap;

use anyhow::anyhow;
use bugaroo_protocol::{FlushLengths, Model};
use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use crate::catalog::PROGRAMS;
use crate::markdown::{Table, or_nothing, percent};
use crate::results::{Evaluation, model_name};
use crate::statistics::{median, share_percent};
use crate::tables::or_not_measured;

/// Which stores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Which {
    /// Figure 3.
    Global,
    /// Figure 4.
    Shared,
}

/// A histogram of one program under one model.
type Histogram<'a> = (Model, &'a BTreeMap<u32, u64>);

/// A panel of a figure.
#[derive(Clone, Debug, PartialEq)]
struct Panel<'a> {
    program: &'static str,
    histograms: Vec<Histogram<'a>>,
}

impl Which {
    /// The file of the figure.
    pub fn file(self) -> &'static str {
        match self {
            Which::Global => "figure3.svg",
            Which::Shared => "figure4.svg",
        }
    }

    fn of(self, lengths: &FlushLengths) -> &BTreeMap<u32, u64> {
        match self {
            Which::Global => &lengths.global,
            Which::Shared => &lengths.shared,
        }
    }
}

/// Each program has one panel, as in the paper: the variants that are measured do not differ in it.
fn panels(results: &Evaluation, which: Which) -> Vec<Panel<'_>> {
    let panel = |program: &crate::catalog::Program| {
        let variant = program.measured().next()?;
        let histogram = |model| {
            let histogram = which.of(&results.profile(program.name, variant, model)?.flush_lengths);
            (!histogram.is_empty()).then_some((model, histogram))
        };
        let histograms: Vec<_> = results.models().into_iter().filter_map(histogram).collect();
        (!histograms.is_empty()).then_some(Panel { program: program.name, histograms })
    };
    PROGRAMS.iter().filter_map(panel).collect()
}

/// The share of flushes of length 1, by program and over all.
pub fn shares(results: &Evaluation, which: Which, paper: f64) -> String {
    let models = results.models();
    let mut numbers = Vec::new();
    for &model in &models {
        numbers.extend([format!("{}: length 1", model_name(model)), "longest".to_owned()]);
    }
    let panels = panels(results, which);
    let mut table = Table::new(&["program".to_owned()], &numbers);
    let histogram = |panel: &Panel<'_>, model| -> Option<BTreeMap<u32, u64>> {
        Some(panel.histograms.iter().find(|(other, _)| *other == model)?.1.clone())
    };
    for panel in &panels {
        let mut row = vec![panel.program.to_owned()];
        for &model in &models {
            let histogram = histogram(panel, model).unwrap_or_default();
            row.push(or_nothing(share_percent(&histogram, 1), percent));
            row.push(or_nothing(histogram.keys().next_back(), u32::to_string));
        }
        table.row(row);
    }
    type Overall = fn(&[f64]) -> Option<f64>;
    let mean: Overall =
        |shares| (!shares.is_empty()).then(|| shares.iter().sum::<f64>() / shares.len() as f64);
    for (what, overall) in [("mean of the programs", mean), ("median of the programs", median)] {
        let mut row = vec![what.to_owned()];
        for &model in &models {
            let shares: Vec<f64> =
                panels.iter().filter_map(|panel| share_percent(&histogram(panel, model)?, 1)).collect();
            row.extend([or_nothing(overall(&shares), percent), String::new()]);
        }
        if !panels.is_empty() {
            table.row(row);
        }
    }
    or_not_measured(&table) + &format!("The paper, over all its programs: {paper} %.\n\n")
}

const COLUMNS: usize = 2;
const PANEL: (u32, u32) = (460, 250);
const MARGIN: u32 = 12;
/// Above the panels: which colour is which model.
const LEGEND: u32 = 34;
/// Panels reach at least so far, so that a single bar is one.
const LEAST_LENGTH: u32 = 8;
/// Pixels that a number on a bar takes, with the space around it.
const NUMBER_WIDTH: f64 = 22.0;
const FONT: &str = "sans-serif";

/// Draws a figure; None where nothing was measured.
///
/// # Errors
/// When the drawing fails.
pub fn draw(results: &Evaluation, which: Which) -> anyhow::Result<Option<String>> {
    let panels = panels(results, which);
    if panels.is_empty() {
        return Ok(None);
    }
    let rows = panels.len().div_ceil(COLUMNS);
    let size = (PANEL.0 * COLUMNS as u32 + 2 * MARGIN, PANEL.1 * rows as u32 + LEGEND + MARGIN);
    let mut text = String::new();
    drawn(&panels, &results.models(), &mut text, size)
        .map_err(|error| anyhow!("{}: {error}", which.file()))?;
    Ok(Some(text))
}

type Drawn = Result<(), Box<dyn std::error::Error>>;

fn drawn(panels: &[Panel<'_>], models: &[Model], text: &mut String, size: (u32, u32)) -> Drawn {
    let root = SVGBackend::with_string(text, size).into_drawing_area();
    root.fill(&WHITE)?;
    let (top, rest) = root.split_vertically(LEGEND);
    legend(&top, models)?;
    let rest = rest.margin(0, MARGIN, MARGIN, MARGIN);
    for (at, (area, panel)) in
        rest.split_evenly((panels.len().div_ceil(COLUMNS), COLUMNS)).iter().zip(panels).enumerate()
    {
        draw_panel(area, panel, at, models)?;
    }
    root.present()?;
    Ok(())
}

fn legend(area: &DrawingArea<SVGBackend<'_>, Shift>, models: &[Model]) -> Drawn {
    let style = (FONT, 14).into_font().color(&BLACK);
    for (at, &model) in models.iter().enumerate() {
        let x = 70 + 180 * at as i32;
        area.draw(&Rectangle::new([(x, 12), (x + 14, 26)], colour(model).filled()))?;
        area.draw(&Text::new(format!("--model {}", model_name(model)), (x + 20, 13), style.clone()))?;
    }
    Ok(())
}

fn draw_panel(
    area: &DrawingArea<SVGBackend<'_>, Shift>,
    panel: &Panel<'_>,
    at: usize,
    models: &[Model],
) -> Drawn {
    let longest = panel.histograms.iter().filter_map(|(_, histogram)| histogram.keys().next_back()).max();
    let longest = longest.copied().unwrap_or(1).max(LEAST_LENGTH);
    let letter = char::from(b'a' + u8::try_from(at).unwrap_or(0));
    let mut chart = ChartBuilder::on(area)
        .caption(format!("({letter}) {}", panel.program), (FONT, 16))
        .margin(6)
        .x_label_area_size(38)
        .y_label_area_size(52)
        // Above 100 there is room for the numbers on the bars.
        .build_cartesian_2d(0.4..f64::from(longest) + 0.6, 0.0..112.0)?;
    let whole = |value: &f64| {
        if value.fract().abs() < 1e-9 { format!("{value:.0}") } else { String::new() }
    };
    chart
        .configure_mesh()
        .disable_x_mesh()
        .light_line_style(TRANSPARENT)
        .bold_line_style(BLACK.mix(0.15))
        .x_desc("flush length, stores")
        .y_desc("share of flushes, %")
        .x_labels(usize::try_from(longest.min(20))?)
        .y_labels(6)
        .x_label_formatter(&whole)
        .y_label_formatter(&whole)
        .label_style((FONT, 12))
        .axis_desc_style((FONT, 13))
        .draw()?;
    let width = 0.8 / models.len() as f64;
    for (model, histogram) in &panel.histograms {
        let place = place_of(*model, models);
        chart.draw_series(histogram.keys().map(|&length| {
            let left = f64::from(length) - 0.4 + width * place;
            let share = share_percent(histogram, length).unwrap_or(0.0);
            Rectangle::new([(left, 0.0), (left + width, share)], colour(*model).filled())
        }))?;
    }
    let style = (FONT, 10).into_font().color(&BLACK).pos(Pos::new(HPos::Center, VPos::Bottom));
    let numbers =
        numbers(panel, models, f64::from(chart.plotting_area().dim_in_pixel().0) / f64::from(longest));
    chart.draw_series(
        numbers.into_iter().map(|(x, share)| Text::new(bar_label(share), (x, share + 1.5), style.clone())),
    )?;
    Ok(())
}

/// The place of a model's bars among those of a length, from 0.
fn place_of(model: Model, models: &[Model]) -> f64 {
    models.iter().position(|&other| other == model).unwrap_or(0) as f64
}

/// Which numbers there is room for on the bars, and where: length on the axis, share. A bar too narrow for its own
/// shares one with its neighbours, if they say the same and the next length is not too close.
fn numbers(panel: &Panel<'_>, models: &[Model], pixels_a_length: f64) -> Vec<(f64, f64)> {
    let width = 0.8 / models.len() as f64;
    let mut by_length: BTreeMap<u32, Vec<(f64, f64)>> = BTreeMap::new();
    for (model, histogram) in &panel.histograms {
        for &length in histogram.keys() {
            let x = f64::from(length) - 0.4 + width * (place_of(*model, models) + 0.5);
            by_length.entry(length).or_default().push((x, share_percent(histogram, length).unwrap_or(0.0)));
        }
    }
    if width * pixels_a_length >= NUMBER_WIDTH {
        return by_length.into_values().flatten().collect();
    }
    let lengths: Vec<u32> = by_length.keys().copied().collect();
    let room = |at: usize, other: Option<usize>| {
        let other = other.and_then(|other| lengths.get(other));
        other.is_none_or(|other| f64::from(other.abs_diff(lengths[at])) * pixels_a_length >= NUMBER_WIDTH)
    };
    let shared = by_length.iter().enumerate().filter_map(|(at, (&length, bars))| {
        let highest = bars.iter().map(|bar| bar.1).fold(0.0, f64::max);
        let same = bars.iter().all(|bar| bar_label(bar.1) == bar_label(highest));
        (same && room(at, at.checked_sub(1)) && room(at, Some(at + 1)))
            .then_some((f64::from(length), highest))
    });
    shared.collect()
}

/// A share on its bar. What is there is never called nothing, nor what is not all of it everything.
fn bar_label(share: f64) -> String {
    match share {
        share if share < 0.5 => "<1".to_owned(),
        share if share > 99.5 && share < 100.0 => ">99".to_owned(),
        share => format!("{share:.0}"),
    }
}

fn colour(model: Model) -> RGBColor {
    match model {
        Model::StoreBuffer => RGBColor(0x1f, 0x6f, 0xb4),
        Model::Bugaroo => RGBColor(0xe0, 0x8a, 0x1e),
        Model::Ptx => RGBColor(0x55, 0x55, 0x55),
    }
}

#[cfg(test)]
mod tests;
