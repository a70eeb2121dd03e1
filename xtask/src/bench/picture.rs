//! The growth, drawn.

use std::path::Path;

use plotters::prelude::*;

/// One request on one database.
pub(super) struct Line {
    pub(super) database: &'static str,
    pub(super) request: &'static str,
    /// How many animals, and how many times the time with the fewest.
    pub(super) points: Vec<(u64, f64)>,
}

const SIZE: (u32, u32) = (840, 420);
const COLOURS: [RGBColor; 4] =
    [RGBColor(0, 90, 160), RGBColor(200, 90, 0), RGBColor(20, 130, 70), RGBColor(150, 40, 120)];

/// Draws the lines, a panel for each database, into an SVG file.
pub(super) fn draw(file: &Path, lines: &[Line]) -> Result<(), String> {
    drawn(file, lines).map_err(|error| format!("{}: {error}", file.display()))
}

fn drawn(file: &Path, lines: &[Line]) -> Result<(), Box<dyn std::error::Error>> {
    let root = SVGBackend::new(file, SIZE).into_drawing_area();
    root.fill(&WHITE)?;
    let mut databases: Vec<&str> = lines.iter().map(|line| line.database).collect();
    databases.dedup();
    let points = || lines.iter().flat_map(|line| &line.points);
    let (least, most) = (points().map(|(size, _)| *size).min(), points().map(|(size, _)| *size).max());
    let (Some(least), Some(most)) = (least, most) else { return Ok(()) };
    let highest = points().map(|(_, times)| *times).fold(1.5, f64::max) * 1.1;
    let panels = root.split_evenly((1, databases.len()));
    for (panel, database) in panels.iter().zip(databases) {
        let mut chart = ChartBuilder::on(panel)
            .caption(format!("Time of a request on {database}"), ("sans-serif", 16))
            .margin(12)
            .margin_right(32)
            .x_label_area_size(40)
            .y_label_area_size(48)
            .build_cartesian_2d((least..most).log_scale(), 0.0..highest)?;
        chart
            .configure_mesh()
            .x_desc("animals in the store")
            .y_desc("times that with 1,000")
            .x_label_formatter(&|size| super::table::grouped(*size as f64))
            .y_label_formatter(&|times| format!("{times:.1}"))
            .light_line_style(TRANSPARENT)
            .draw()?;
        for (line, colour) in lines.iter().filter(|line| line.database == database).zip(COLOURS) {
            let style = colour.stroke_width(2);
            chart
                .draw_series(LineSeries::new(line.points.iter().copied(), style).point_size(3))?
                .label(line.request)
                .legend(move |(x, y)| PathElement::new([(x, y), (x + 16, y)], style));
        }
        chart
            .configure_series_labels()
            .position(SeriesLabelPosition::LowerLeft)
            .background_style(WHITE.mix(0.8))
            .draw()?;
    }
    root.present()?;
    Ok(())
}
