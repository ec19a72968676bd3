//! Chooses the wanted events of archives by the columns of blocks, before they are made.
//!
//! What a query says about a definition, a thread or a core is looked up once, and only the columns
//! of values are read that its conditions name. What columns do not tell, such as the text of a
//! message, is asked about the events when they are made.

use std::sync::Arc;

use timeline::{Event, EventId, Syntax};
use timeline_archive::{BlockColumns, BlockRanges, Places, Select, ShapeValues, UnitInfo};

use super::filter::{ByThread, Decision, Filter};
use super::program::{CompiledQueries, CompiledQuery, MOST_FORMS};
use super::text_plan::{Rows, TextPlan};

/// What is known of the events of a shape.
#[derive(Clone, Copy)]
enum Plan {
    No,
    Yes,
    Ask,
    /// The conditions on columns tell.
    Run,
}

impl Select for Filter<'_> {
    fn wants_unit(&mut self, unit: &UnitInfo) -> bool {
        let (first, last) = unit.unix;
        self.query.since.is_none_or(|since| since <= last)
            && self.query.until.is_none_or(|until| first < until)
    }

    fn wants_block(&mut self, _: &UnitInfo, ranges: &BlockRanges) -> bool {
        self.may_want_of(ranges)
    }

    fn choose(
        &mut self,
        unit: &UnitInfo,
        columns: Option<&mut BlockColumns<'_>>,
        places: &mut Places,
    ) {
        let read = columns.and_then(|columns| self.read(unit, columns, places));
        // Only the events themselves say which of a damaged block are there.
        if read.is_none() || !self.query.texts.is_empty() {
            places.ask_all();
        }
    }

    fn wants(&mut self, event: &Event) -> bool {
        self.matches(event)
    }
}

impl<'a> Filter<'a> {
    /// Clears the places of events that are not wanted. `None` if a column is damaged.
    fn read(
        &mut self,
        unit: &UnitInfo,
        columns: &mut BlockColumns<'_>,
        places: &mut Places,
    ) -> Option<()> {
        if columns.shapes().len() < places.len() {
            return None;
        }
        columns.narrow(places.span());
        let mut programs = std::mem::take(&mut self.programs);
        self.by_values(columns, places, &mut programs);
        self.programs = programs;
        if places.any() && !self.query.texts.is_empty() {
            self.by_text(columns, places);
        }
        if places.any() {
            self.by_thread(columns, places)?;
        }
        if places.any() && !self.query.cores.is_empty() {
            let cores = columns.cores()?;
            let core = |place: usize| (cores[place] != u16::MAX).then_some(cores[place]);
            keep(places, |place| self.has_core(core(place)));
        }
        let (first, last) = unit.unix;
        // No event of a unit without an unknown time has 0.
        let are_in_time = first > 0 && self.has_time(first) && self.has_time(last);
        let has_times = self.query.since.is_some() || self.query.until.is_some();
        if places.any() && has_times && !are_in_time {
            let times = columns.times()?;
            keep(places, |place| {
                times[place] != 0 && self.has_time(times[place])
            });
        }
        Some(())
    }

    fn by_thread(&mut self, columns: &BlockColumns<'_>, places: &mut Places) -> Option<()> {
        if self.query.threads.is_empty() && self.query.pids.is_empty() {
            return Some(());
        }
        let threads = columns.threads().iter();
        let decided: Vec<ByThread> = threads
            .map(|(thread, tid)| self.decide_thread(*thread, *tid))
            .collect();
        if decided.iter().all(|by| *by == ByThread::NotWanted) {
            places.clear_range(0..places.len());
        } else if decided.iter().any(|by| *by != ByThread::Wanted) {
            let numbers = columns.thread_numbers()?;
            let by = |place| decided[usize::from(numbers[place])];
            keep(places, |place| by(place) != ByThread::NotWanted);
            // They are counted when they are made.
            let unknown = places
                .iter()
                .filter(|place| by(*place) == ByThread::UnknownProcess);
            let unknown: Vec<usize> = unknown.collect();
            unknown.into_iter().for_each(|place| places.ask(place));
        }
        Some(())
    }

    /// Clears the places of events whose definition or values are not wanted.
    fn by_values(
        &mut self,
        columns: &mut BlockColumns<'_>,
        places: &mut Places,
        programs: &mut CompiledQueries<'a>,
    ) {
        let mut wanted = places.none_of();
        for shape in 0..columns.definitions().len() {
            let plan = self.plan(shape, columns, programs);
            let of_shape = columns.places(shape);
            match plan {
                Plan::No => {}
                Plan::Yes => of_shape
                    .iter()
                    .for_each(|place| wanted.add((*place).into())),
                Plan::Ask => of_shape.iter().for_each(|place| {
                    wanted.add((*place).into());
                    places.ask((*place).into());
                }),
                Plan::Run => {
                    let rows = of_shape.iter().zip(0..=u16::MAX);
                    let rows = rows.filter(|(place, _)| places.has(usize::from(**place)));
                    let rows = rows.map(|(_, row)| row).collect();
                    let id = columns.definitions()[shape];
                    let fields = match self.decision(id) {
                        Some(Decision::Perhaps(fields)) => fields,
                        _ => &self.unknown,
                    };
                    if let Some(program) = programs.get(id, columns.shape_values(shape)) {
                        let accepted = program.accepted(fields, (columns, shape), rows);
                        let places = accepted.iter().map(|row| of_shape[usize::from(*row)]);
                        places.for_each(|place| wanted.add(place.into()));
                    }
                }
            }
        }
        places.intersect(&wanted);
    }

    /// Clears the places of events whose messages cannot have the texts.
    fn by_text(&mut self, columns: &mut BlockColumns<'_>, places: &mut Places) {
        // A block of an imported log has hundreds of shapes, and a page of it few.
        let is_left = |shape: &usize| {
            let mut of_shape = columns.places(*shape).iter();
            of_shape.any(|place| places.has(usize::from(*place)))
        };
        let left = (0..columns.definitions().len()).filter(is_left);
        let plans = left.map(|shape| (shape, self.text_plan(shape, columns)));
        let plans: Vec<(usize, Arc<TextPlan>)> = plans.collect();
        let mut rows = Rows::new(columns);
        for (shape, plan) in &plans {
            rows.choose(plan, *shape, places);
        }
    }

    /// What the texts say about the values of a shape.
    fn text_plan(&mut self, shape: usize, columns: &BlockColumns<'_>) -> Arc<TextPlan<'a>> {
        let (id, values) = (columns.definitions()[shape], columns.shape_values(shape));
        let known = self.text_plans.entry(id).or_default();
        if let Some((_, plan)) = known.iter().find(|(form, _)| form == values) {
            return Arc::clone(plan);
        }
        let definition = self.source.definition(id);
        let plan = definition.map_or(TextPlan::Ask, |definition| {
            TextPlan::new(&self.query.texts, definition, values)
        });
        let plan = Arc::new(plan);
        if known.len() < MOST_FORMS {
            known.push((values.clone(), Arc::clone(&plan)));
        }
        plan
    }

    /// The conditions on events of a definition, or of none, whose values are in this form. `None`
    /// if only the events tell.
    pub(super) fn program<'p>(
        &self,
        id: EventId,
        values: &ShapeValues,
        programs: &'p mut CompiledQueries<'a>,
    ) -> Option<&'p mut CompiledQuery<'a>> {
        let fields = match self.decision(id)? {
            Decision::Perhaps(fields) => fields,
            _ => &self.unknown,
        };
        if !programs.has(id, values) {
            let conditions = self.query.expressions.iter();
            let conditions = conditions.map(|expression| &expression.root);
            let definition = self.source.definition(id);
            let is_template = definition.is_some_and(|known| known.syntax == Syntax::Template);
            let program = CompiledQuery::new(conditions, fields, values, is_template);
            programs.keep(id, values, program);
        }
        programs.get(id, values)
    }

    fn plan(
        &mut self,
        shape: usize,
        columns: &mut BlockColumns<'_>,
        programs: &mut CompiledQueries<'a>,
    ) -> Plan {
        let id = columns.definitions()[shape];
        self.decide(id);
        let program = match self.decision(id) {
            Some(Decision::Never) => return Plan::No,
            Some(Decision::Always) => return Plan::Yes,
            _ => self.program(id, columns.shape_values(shape), programs),
        };
        let Some(program) = program else {
            return Plan::Ask;
        };
        let are_read = program.positions.iter().all(|position| {
            columns.read_values(shape, *position).is_some()
                && columns.are_shown(shape, *position) == Some(true)
        });
        match are_read {
            true => Plan::Run,
            false => Plan::Ask,
        }
    }
}

/// Clears the places that are not to be kept.
fn keep(places: &mut Places, mut is_kept: impl FnMut(usize) -> bool) {
    let mut next = places.next(0);
    while let Some(place) = next {
        if !is_kept(place) {
            places.clear(place);
        }
        next = places.next(place + 1);
    }
}
