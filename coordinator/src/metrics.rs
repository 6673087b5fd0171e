//! What the cluster counts, in the words of Prometheus: conventional names under `corridor_`, units in the names, and a help
//! text each.

use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use prometheus::TextEncoder;
use prometheus::proto::{Bucket, Counter, Gauge, Histogram, LabelPair, Metric, MetricFamily, MetricType};

use crate::cache::CacheCounts;
use crate::cluster::{Answer, Counted, Figures, Question, Spread};
use crate::driver::Handle;
use corridor_shared::job::ENGINE_EPOCH;

/// What a request for `/metrics` is answered.
pub(crate) async fn answer(cluster: &Handle) -> Response {
    match cluster.ask(Question::Figures).await {
        Ok(Answer::Figures(figures)) => {
            let kind = [(header::CONTENT_TYPE, prometheus::TEXT_FORMAT)];
            (kind, text(&figures, &cluster.cache().counts())).into_response()
        }
        _ => (StatusCode::SERVICE_UNAVAILABLE, "the coordinator is shutting down\n").into_response(),
    }
}

/// The text of `/metrics`. Empty if it cannot be written, which no value can bring about.
pub(crate) fn text(figures: &Figures, cache: &CacheCounts) -> String {
    let mut page = Page::default();
    build(&mut page);
    leases(&mut page, figures);
    jobs(&mut page, figures);
    fleet(&mut page, figures);
    shared_cache(&mut page, cache);
    TextEncoder::new().encode_to_string(&page.families).unwrap_or_default()
}

fn build(page: &mut Page) {
    let labels = [("version", env!("CARGO_PKG_VERSION")), ("engine_epoch", ENGINE_EPOCH)];
    page.family(
        "corridor_build_info",
        "What is running; always 1.",
        MetricType::GAUGE,
        [gauge(&labels, 1.0)],
    );
}

fn leases(page: &mut Page, figures: &Figures) {
    let Counted { granted, ended, late, nodes, slot_idle, unit, .. } = &figures.counted;
    page.gauge("corridor_leases_active", "Units that are leased to workers.", figures.leases);
    page.counter("corridor_leases_granted_total", "Units that were leased, repetitions included.", *granted);
    let ends = [
        ("completed", ended.completed),
        ("handed_back", ended.handed_back),
        ("failed", ended.failed),
        ("revoked", ended.revoked),
        ("lost", ended.lost),
        ("expired", ended.expired),
    ];
    page.family(
        "corridor_leases_ended_total",
        "Leases by how they have ended: lost with their worker, expired in silence, revoked by the coordinator.",
        MetricType::COUNTER,
        ends.map(|(how, number)| counter(&[("how", how)], number)),
    );
    page.counter(
        "corridor_late_reports_total",
        "What workers said of units that were not theirs any more.",
        *late,
    );
    page.counter("corridor_nodes_total", "Positions visited by the searches that results tell of.", *nodes);
    page.spread(
        "corridor_slot_idle_seconds",
        "How long a slot was free before it was granted a unit.",
        slot_idle,
    );
    page.spread(
        "corridor_unit_seconds",
        "From a unit's grant, or its turn at its worker, to its result.",
        unit,
    );
}

fn jobs(page: &mut Page, figures: &Figures) {
    let states = ["queued", "running", "waiting", "paused", "parked", "done", "failed"];
    let number = |state| figures.jobs.get(state).copied().unwrap_or(0);
    page.family(
        "corridor_jobs",
        "Jobs in memory, by state.",
        MetricType::GAUGE,
        states.map(|state| gauge(&[("state", state)], whole(number(state)))),
    );
    page.counter("corridor_jobs_accepted_total", "Jobs that were accepted.", figures.counted.jobs_accepted);
    page.counter(
        "corridor_jobs_ended_total",
        "Jobs that have ended, well or not.",
        figures.counted.jobs_ended,
    );
    let waiting = figures
        .waiting
        .iter()
        .map(|(priority, age)| gauge(&[("priority", &priority.to_string())], age.as_secs_f64()));
    page.family(
        "corridor_queue_age_seconds",
        "By priority, how long the open job has waited that has waited longest without a unit at any worker.",
        MetricType::GAUGE,
        waiting,
    );
    page.gauge("corridor_watchers", "Streams of events that clients read.", figures.watchers);
    page.gauge("corridor_tree_nodes", "Nodes of the master trees of all open jobs.", figures.tree_nodes);
}

fn fleet(page: &mut Page, figures: &Figures) {
    let serving = figures.workers.saturating_sub(figures.draining);
    let states = [("serving", serving), ("draining", figures.draining)];
    page.family(
        "corridor_workers",
        "Connected workers, by whether they take units.",
        MetricType::GAUGE,
        states.map(|(state, number)| gauge(&[("state", state)], whole(number))),
    );
    page.counter(
        "corridor_workers_joined_total",
        "Workers that have registered.",
        figures.counted.workers_joined,
    );
    page.counter(
        "corridor_workers_left_total",
        "Workers whose sessions have ended.",
        figures.counted.workers_left,
    );
    page.gauge("corridor_slots", "Slots of the workers that take units.", figures.slots);
    page.gauge("corridor_slots_free", "Of these, those without a unit.", figures.free_slots);
}

fn shared_cache(page: &mut Page, cache: &CacheCounts) {
    page.gauge("corridor_cache_entries", "Results in the shared cache.", cache.entries);
    page.gauge(
        "corridor_cache_max_entries",
        "The most results that the shared cache may hold.",
        cache.max_entries,
    );
    page.counter("corridor_cache_sent_entries_total", "Results that were sent to workers.", cache.sent);
    page.counter("corridor_cache_received_entries_total", "Results that came from workers.", cache.received);
    page.counter(
        "corridor_cache_cutoffs_total",
        "Results of others that ended a worker's search of a node.",
        cache.cutoffs,
    );
}

/// Families of metrics in the order in which they are written.
#[derive(Default)]
struct Page {
    families: Vec<MetricFamily>,
}

impl Page {
    fn family(
        &mut self,
        name: &str,
        help: &str,
        kind: MetricType,
        metrics: impl IntoIterator<Item = Metric>,
    ) {
        let mut family = MetricFamily::default();
        family.set_name(name.to_owned());
        family.set_help(help.to_owned());
        family.set_field_type(kind);
        family.set_metric(metrics.into_iter().collect());
        // What has no values yet is not written.
        if !family.get_metric().is_empty() {
            self.families.push(family);
        }
    }

    fn gauge(&mut self, name: &str, help: &str, number: u64) {
        self.family(name, help, MetricType::GAUGE, [gauge(&[], whole(number))]);
    }

    fn counter(&mut self, name: &str, help: &str, number: u64) {
        self.family(name, help, MetricType::COUNTER, [counter(&[], number)]);
    }

    fn spread(&mut self, name: &str, help: &str, spread: &Spread) {
        let bucket = |(bound, count)| {
            let mut bucket = Bucket::default();
            bucket.set_upper_bound(bound);
            bucket.set_cumulative_count(count);
            bucket
        };
        let mut histogram = Histogram::default();
        histogram.set_bucket(spread.cumulative().map(bucket).collect());
        histogram.set_sample_count(spread.count());
        histogram.set_sample_sum(spread.sum().as_secs_f64());
        let mut metric = Metric::default();
        metric.set_histogram(histogram);
        self.family(name, help, MetricType::HISTOGRAM, [metric]);
    }
}

fn labelled(labels: &[(&str, &str)]) -> Metric {
    let pair = |&(name, value): &(&str, &str)| {
        let mut pair = LabelPair::default();
        pair.set_name(name.to_owned());
        pair.set_value(value.to_owned());
        pair
    };
    Metric::from_label(labels.iter().map(pair).collect())
}

fn gauge(labels: &[(&str, &str)], number: f64) -> Metric {
    let mut gauge = Gauge::default();
    gauge.set_value(number);
    let mut metric = labelled(labels);
    metric.set_gauge(gauge);
    metric
}

fn counter(labels: &[(&str, &str)], number: u64) -> Metric {
    let mut counter = Counter::default();
    counter.set_value(whole(number));
    let mut metric = labelled(labels);
    metric.set_counter(counter);
    metric
}

/// A count, which Prometheus keeps as a floating-point number whatever it is.
#[expect(clippy::cast_precision_loss, reason = "so does Prometheus")]
const fn whole(number: u64) -> f64 {
    number as f64
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn every_number_has_its_line() {
        let mut figures = Figures { leases: 3, workers: 5, draining: 2, ..Figures::default() };
        figures.counted.granted = 40;
        figures.counted.ended.expired = 7;
        figures.counted.unit.note(Duration::from_millis(20));
        figures.counted.unit.note(Duration::from_secs(60));
        figures.jobs.insert("running", 2);
        figures.waiting.insert(-5, Duration::from_millis(1500));
        let cache = CacheCounts { entries: 11, cutoffs: 13, ..CacheCounts::default() };
        let text = text(&figures, &cache);
        for line in [
            "# TYPE corridor_leases_granted_total counter",
            "corridor_leases_granted_total 40",
            "corridor_leases_active 3",
            "corridor_leases_ended_total{how=\"expired\"} 7",
            "corridor_leases_ended_total{how=\"lost\"} 0",
            "corridor_unit_seconds_bucket{le=\"0.01\"} 0",
            "corridor_unit_seconds_bucket{le=\"0.025\"} 1",
            "corridor_unit_seconds_bucket{le=\"+Inf\"} 2",
            "corridor_unit_seconds_sum 60.02",
            "corridor_unit_seconds_count 2",
            "corridor_jobs{state=\"running\"} 2",
            "corridor_jobs{state=\"done\"} 0",
            "corridor_queue_age_seconds{priority=\"-5\"} 1.5",
            "corridor_workers{state=\"serving\"} 3",
            "corridor_cache_entries 11",
            "corridor_cache_cutoffs_total 13",
        ] {
            assert!(text.lines().any(|it| it == line), "no '{line}' in\n{text}");
        }
        assert!(text.starts_with("# HELP corridor_build_info "), "{text}");
    }
}
