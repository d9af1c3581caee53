//! Results of observables: arrays with named dimensions, numbers with errors, and pictures.

/// Results of an observable.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Findings {
    /// arrays for the result files
    pub arrays: Vec<Array>,
    /// single numbers
    pub numbers: Vec<Number>,
    /// names and values of the settings of the computation, which become attributes of the result file
    pub settings: Vec<(&'static str, String)>,
    /// lines of a summary for the user
    pub summary: Vec<String>,
    /// reasons why results may be wrong
    pub warnings: Vec<String>,
    /// pictures
    pub plots: Vec<Plot>,
}

/// Name of the dimension over frames. The writers of result files add the time of each frame (ps) to all results with
/// this dimension, as its coordinate.
pub const TIME: &str = "time";

/// Named array of numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct Array {
    /// name of the dataset
    pub name: &'static str,
    /// name of each dimension. A one-dimensional array with the same name as its dimension holds the coordinates of the
    /// dimension
    pub dimensions: Vec<&'static str>,
    /// extent along each dimension; in `values` the index of the last dimension varies fastest
    pub shape: Vec<usize>,
    /// values; the number of values is the product of the extents
    pub values: Values,
    /// H5MD unit; empty for pure numbers
    pub unit: &'static str,
}

/// Values of an array, all of one type.
#[derive(Clone, Debug, PartialEq)]
pub enum Values {
    /// 32-bit floating point
    Single(Vec<f32>),
    /// 64-bit floating point
    Double(Vec<f64>),
    /// counts and indices, as unsigned integers
    Whole(Vec<u32>),
    /// names
    Text(Vec<String>),
}

impl Array {
    /// Creates an array from its values and its dimensions, each given by a name and an extent.
    pub fn new<const N: usize>(
        name: &'static str,
        dimensions: [(&'static str, usize); N],
        values: impl Into<Values>,
        unit: &'static str,
    ) -> Self {
        let (dimensions, shape) = dimensions.into_iter().unzip();
        Self { name, dimensions, shape, values: values.into(), unit }
    }
}

impl From<Vec<f64>> for Values {
    fn from(values: Vec<f64>) -> Self {
        Values::Double(values)
    }
}

impl From<Vec<f32>> for Values {
    fn from(values: Vec<f32>) -> Self {
        Values::Single(values)
    }
}

impl From<Vec<u32>> for Values {
    fn from(values: Vec<u32>) -> Self {
        Values::Whole(values)
    }
}

impl From<Vec<String>> for Values {
    fn from(values: Vec<String>) -> Self {
        Values::Text(values)
    }
}

impl Values {
    /// Returns the number of values.
    pub fn len(&self) -> usize {
        match self {
            Values::Single(values) => values.len(),
            Values::Double(values) => values.len(),
            Values::Whole(values) => values.len(),
            Values::Text(values) => values.len(),
        }
    }

    /// Whether there are no values.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Single number of a result, such as a diffusion coefficient.
#[derive(Clone, Debug, PartialEq)]
pub struct Number {
    /// name, as in the JSON output
    pub name: &'static str,
    /// value
    pub value: f64,
    /// standard error; `None` if unknown
    pub error: Option<f64>,
    /// unit as plain text, such as "nm"; empty for pure numbers
    pub unit: &'static str,
}

/// Picture of a result.
#[derive(Clone, Debug, PartialEq)]
pub struct Plot {
    /// suffix of the file name, after the name of the observable; empty for the main picture of the observable
    pub suffix: &'static str,
    /// title
    pub title: String,
    /// horizontal axis
    pub x: Axis,
    /// vertical axis
    pub y: Axis,
    /// layers of the picture, the lowest first
    pub layers: Vec<Layer>,
}

impl Plot {
    /// Creates the main picture of an observable, whose horizontal axis is the time in ps.
    pub fn over_time(title: impl Into<String>, y: Axis, layers: Vec<Layer>) -> Self {
        Plot { suffix: "", title: title.into(), x: Axis::new("time / ps"), y, layers }
    }
}

/// Axis of a picture.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Axis {
    /// quantity with its unit, such as "time / ps"
    pub label: String,
    /// ends of the axis; `None` if the ends follow from the data
    pub range: Option<[f64; 2]>,
    /// whether the quantity of the axis takes only whole numbers
    pub is_whole: bool,
}

impl Axis {
    /// Creates an axis whose ends follow from the data.
    pub fn new(label: impl Into<String>) -> Self {
        Axis { label: label.into(), range: None, is_whole: false }
    }

    /// Creates an axis with the ends `range`.
    pub fn between(label: impl Into<String>, range: [f64; 2]) -> Self {
        Axis { label: label.into(), range: Some(range), is_whole: false }
    }

    /// Restricts the ticks of the axis to whole numbers.
    pub fn of_whole_numbers(self) -> Self {
        Axis { is_whole: true, ..self }
    }
}

/// Data that a picture shows.
#[derive(Clone, Debug, PartialEq)]
pub enum Layer {
    /// line through points, with a band of ±error if errors are given
    Line {
        /// text in the legend; empty if the legend has no entry for the layer
        label: String,
        /// horizontal coordinates
        x: Vec<f64>,
        /// vertical coordinates
        y: Vec<f64>,
        /// standard errors of `y`; empty if unknown
        error: Vec<f64>,
    },
    /// separate points
    Points {
        /// text in the legend; empty if the legend has no entry for the layer
        label: String,
        /// horizontal coordinates
        x: Vec<f64>,
        /// vertical coordinates
        y: Vec<f64>,
    },
    /// bars of equal width that touch each other
    Bars {
        /// text in the legend; empty if the legend has no entry for the layer
        label: String,
        /// centers of the bars
        x: Vec<f64>,
        /// heights
        y: Vec<f64>,
    },
    /// mean of a series, as a horizontal line with a band of ±error
    Mean {
        /// ends of the line
        x: [f64; 2],
        /// mean
        value: f64,
        /// standard error of the mean
        error: f64,
    },
    /// values on a grid, shown by colour
    Map {
        /// meaning of the colour, with its unit
        label: String,
        /// ends of the horizontal axis
        x: [f64; 2],
        /// ends of the vertical axis
        y: [f64; 2],
        /// number of columns
        columns: usize,
        /// values, row by row from the lower end of the vertical axis
        values: Vec<f64>,
    },
    /// class of each point of a grid, shown by colour
    Classes {
        /// names of the classes
        names: Vec<&'static str>,
        /// ends of the horizontal axis
        x: [f64; 2],
        /// ends of the vertical axis
        y: [f64; 2],
        /// number of columns
        columns: usize,
        /// index of the class of each point, row by row from the lower end of the vertical axis
        values: Vec<u8>,
    },
}

impl Layer {
    /// Creates a line without errors.
    pub fn line(label: impl Into<String>, x: &[f64], y: &[f64]) -> Self {
        Layer::Line { label: label.into(), x: x.to_vec(), y: y.to_vec(), error: vec![] }
    }

    /// Creates a layer with the mean of a series over `times`. Returns `None` for fewer than two times. Also returns
    /// `None` if the error is zero: the series is then constant, and the line of the mean would hide the line of the
    /// series.
    pub fn mean(times: &[f64], value: f64, error: f64) -> Option<Self> {
        match *times {
            [first, .., last] if error > 0.0 => Some(Layer::Mean { x: [first, last], value, error }),
            _ => None,
        }
    }
}
