//! How fast a recording is shown.

use std::time::Duration;

use super::Event;

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pace {
    /// 2 is twice as fast.
    pub speed: f64,
    /// Longer pauses are cut to this.
    pub idle_limit: Option<Duration>,
}

impl Default for Pace {
    fn default() -> Pace {
        Pace { speed: 1.0, idle_limit: None }
    }
}

impl Pace {
    /// The events with the times at which they are shown.
    pub fn times<'a>(
        self,
        events: &'a [Event],
    ) -> impl Iterator<Item = (Duration, &'a Event)> + use<'a> {
        let (mut before, mut shown) = (Duration::ZERO, Duration::ZERO);
        events.iter().map(move |event| {
            let pause = event.at.saturating_sub(before);
            before = event.at;
            let pause = self.idle_limit.map_or(pause, |limit| pause.min(limit));
            let pause = Duration::try_from_secs_f64(pause.as_secs_f64() / self.speed);
            shown = shown.saturating_add(pause.unwrap_or(Duration::MAX));
            (shown, event)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::What;
    use super::*;

    #[test]
    fn pauses_are_cut_and_then_sped_up() {
        let event =
            |seconds| Event { at: Duration::from_secs(seconds), what: What::Mark(String::new()) };
        let events = [event(1), event(11), event(12)];
        let pace = Pace { speed: 2.0, idle_limit: Some(Duration::from_secs(4)) };
        let times: Vec<_> = pace.times(&events).map(|(at, _)| at.as_millis()).collect();
        assert_eq!(times, [500, 2500, 3000]);
        let usual: Vec<_> = Pace::default().times(&events).map(|(at, _)| at.as_secs()).collect();
        assert_eq!(usual, [1, 11, 12]);
    }
}
