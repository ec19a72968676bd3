//! Draws pictures of intervals: percentiles over time, the distribution, and a heat map.

use std::io::Write;
use std::path::{Path, PathBuf};

use timeline_latency::intervals::{Interval, Summaries};
use timeline_latency::plot::{HeatMap, ImageFormat, OverTime, Spectrum};

use crate::failure::{Failure, Result};
use crate::output as messages;
use crate::output_file::{OutputFile, Readers};
use crate::permission;

/// Which pictures are drawn.
#[derive(clap::Args)]
#[command(next_help_heading = "Pictures")]
pub struct PlotOptions {
    /// Draw percentiles over time, as an .svg or a .png
    #[arg(long, value_name = "FILE", value_parser = picture)]
    plot: Option<PathBuf>,

    /// Draw the whole distribution, up to the rarest durations
    #[arg(long, value_name = "FILE", value_parser = picture)]
    plot_spectrum: Option<PathBuf>,

    /// Draw how often each duration occurs over time
    #[arg(long, value_name = "FILE", value_parser = picture)]
    plot_heat_map: Option<PathBuf>,
}

/// The percentiles that are drawn over time.
const PERCENTILES: [f64; 4] = [50.0, 99.0, 99.9, 100.0];

fn picture(text: &str) -> std::result::Result<PathBuf, String> {
    let path = PathBuf::from(text);
    match image(&path) {
        Some(_) => Ok(path),
        None => Err(format!(
            "expected a file that ends in .svg or .png, got {text}"
        )),
    }
}

fn image(path: &Path) -> Option<ImageFormat> {
    match path.extension()?.to_str()? {
        "svg" => Some(ImageFormat::Svg),
        "png" => Some(ImageFormat::Png),
        _ => None,
    }
}

impl PlotOptions {
    pub fn are_given(&self) -> bool {
        self.plot.is_some() || self.plot_spectrum.is_some() || self.plot_heat_map.is_some()
    }
}

/// Pictures that are being made.
pub struct Plots<'a> {
    options: &'a PlotOptions,
    title: String,
    over_time: OverTime,
    heat_map: HeatMap,
    spectra: Vec<(String, Summaries)>,
    /// The file of the last interval, and its first StartTime, from which a picture counts: a log
    /// may have several.
    origin: Option<(String, u64)>,
}

impl<'a> Plots<'a> {
    pub fn new(options: &'a PlotOptions, title: &str) -> Result<Plots<'a>> {
        Ok(Plots {
            options,
            title: title.into(),
            over_time: OverTime::new(&PERCENTILES)?,
            heat_map: HeatMap::default(),
            spectra: Vec::new(),
            origin: None,
        })
    }

    /// Adds the next interval of a file; of the only one, if it has no name.
    pub fn add(&mut self, file: &str, interval: &mut Interval) -> Result {
        if !self.options.are_given() {
            return Ok(());
        }
        let label = label(file, interval.tag.as_deref());
        let origin = match &self.origin {
            Some((last, origin)) if last == file => *origin,
            _ => interval.origin,
        };
        self.origin = Some((file.into(), origin));
        let own = std::mem::replace(&mut interval.origin, origin);
        let added = self.add_here(file, &label, interval);
        interval.origin = own;
        added
    }

    fn add_here(&mut self, file: &str, label: &str, interval: &Interval) -> Result {
        if self.options.plot.is_some() {
            self.over_time.add(label, interval)?;
        }
        if self.options.plot_heat_map.is_some() {
            self.heat_map.add(label, interval)?;
        }
        if self.options.plot_spectrum.is_some() {
            if self.spectra.last().is_none_or(|(known, _)| known != file) {
                self.spectra.push((file.into(), Summaries::default()));
            }
            if let Some((_, summaries)) = self.spectra.last_mut() {
                summaries.add(interval)?;
            }
        }
        Ok(())
    }

    /// Writes the pictures.
    pub fn finish(&self) -> Result {
        if let Some(path) = &self.options.plot {
            let frame = self.over_time.frame(&self.title);
            write(path, |image| self.over_time.draw(&frame, image))?;
        }
        if let Some(path) = &self.options.plot_heat_map {
            let frame = self.heat_map.frame(&self.title);
            write(path, |image| self.heat_map.draw(&frame, image))?;
        }
        if let Some(path) = &self.options.plot_spectrum {
            let mut spectrum = Spectrum::default();
            for (file, summaries) in &self.spectra {
                for summary in summaries.iter() {
                    spectrum.add(&label(file, summary.tag.as_deref()), &summary.histogram)?;
                }
            }
            let frame = spectrum.frame(&self.title);
            write(path, |image| spectrum.draw(&frame, image))?;
        }
        Ok(())
    }
}

fn label(file: &str, tag: Option<&str>) -> String {
    match (file, tag) {
        ("", tag) => tag.unwrap_or("").into(),
        (file, None) => file.into(),
        (file, Some(tag)) => format!("{file} {tag}"),
    }
}

fn write(
    path: &Path,
    draw: impl FnOnce(ImageFormat) -> timeline_latency::plot::Result<Vec<u8>>,
) -> Result {
    let image = image(path).unwrap_or(ImageFormat::Svg);
    let bytes = draw(image)?;
    let picture = OutputFile::begin(path, Readers::Usual)?;
    let written = picture.file().write_all(&bytes);
    written.map_err(|error| Failure::Message(permission::failed("write", path, &error)))?;
    picture.finish()?;
    messages::say(format_args!("drew {}", path.display()));
    Ok(())
}
