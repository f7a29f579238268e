use mgn_composite::Color;

/// Why a picture was not shown, or why an outlet was not opened.
#[derive(Debug, thiserror::Error)]
pub enum OutletError {
    #[error("a picture of {width} by {height} pixels cannot be shown: each side needs at least one pixel, and at most {max}")]
    Size {
        width: usize,
        height: usize,
        max: u32,
    },
    #[error("a picture of {width} by {height} pixels needs {wanted} bytes, and {len} were passed")]
    Length {
        width: usize,
        height: usize,
        wanted: usize,
        len: usize,
    },
    #[error("colours of the format {0:?} cannot be shown: composite with a byte for each channel, or convert them")]
    Format(Color),
    #[error("every is 0: use 1 for all pictures, 2 for every second one, and so on")]
    Every,
    #[error("pictures cannot be numbered from {first} in steps of {step}: the first number must be from {least} to {most}, and the step from 1 to {most}")]
    Number {
        first: u64,
        step: u64,
        least: u64,
        most: u64,
    },
    #[error("{0}")]
    Address(mgn_fabric::Error),
    #[error("pictures cannot be sent to the viewer at {address}: {why}")]
    Viewer { address: String, why: String },
    #[error(transparent)]
    Present(#[from] mgn_present::Error),
    #[error(
        "nothing is shown any more, because an earlier picture failed: {0}; open another outlet"
    )]
    Failed(String),
}

impl OutletError {
    /// Whether the caller has passed something that no outlet takes, or not this one. Others are
    /// about the place that the pictures go to.
    pub fn is_of_call(&self) -> bool {
        use mgn_present::Error;
        match self {
            OutletError::Size { .. }
            | OutletError::Length { .. }
            | OutletError::Format(_)
            | OutletError::Every
            | OutletError::Number { .. }
            | OutletError::Address(_) => true,
            OutletError::Present(error) => matches!(
                error,
                Error::FileFormat(_) | Error::TooLarge { .. } | Error::BadPicture { .. }
            ),
            OutletError::Viewer { .. } | OutletError::Failed(_) => false,
        }
    }
}
