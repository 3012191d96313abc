//! Lanes: requests for one file run in the order in which they came, those for different files side
//! by side.

use std::collections::{HashSet, VecDeque};
use std::hash::Hash;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How many jobs are looked at for one that waits for no other.
const AHEAD: usize = 256;

/// A queue of jobs with keys: one that shares a key with an earlier one waits for it.
///
/// ```
/// use acp_fs::Lanes;
///
/// let lanes = Lanes::default();
/// lanes.push(vec!["a.txt"], 1, "write a.txt");
/// lanes.push(vec!["a.txt"], 1, "read a.txt");
/// lanes.push(vec!["b.txt"], 1, "read b.txt");
/// let write = lanes.pop().unwrap();
/// assert_eq!(write.job, "write a.txt");
/// assert_eq!(lanes.pop().unwrap().job, "read b.txt");
/// lanes.done(write.ticket);
/// assert_eq!(lanes.pop().unwrap().job, "read a.txt");
/// ```
#[derive(Debug)]
pub struct Lanes<K, J> {
    state: Mutex<State<K, J>>,
    /// A job was put in, or one is done, or there will be no more.
    changed: Condvar,
}

/// A job that is to be run.
#[derive(Debug)]
pub struct Turn<J> {
    /// What [`Lanes::done`] is to be given once it has run.
    pub ticket: u64,
    /// The job.
    pub job: J,
}

#[derive(Debug)]
struct State<K, J> {
    waiting: VecDeque<Waiting<K, J>>,
    running: Vec<(u64, Vec<K>, usize)>,
    weight: usize,
    next: u64,
    is_closed: bool,
}

#[derive(Debug)]
struct Waiting<K, J> {
    ticket: u64,
    keys: Vec<K>,
    weight: usize,
    job: J,
}

impl<K, J> Default for Lanes<K, J> {
    fn default() -> Self {
        Self {
            state: Mutex::new(State {
                waiting: VecDeque::new(),
                running: Vec::new(),
                weight: 0,
                next: 0,
                is_closed: false,
            }),
            changed: Condvar::new(),
        }
    }
}

impl<K: Eq + Hash, J> Lanes<K, J> {
    /// Puts in a job that has `keys` and weighs so much.
    pub fn push(&self, keys: Vec<K>, weight: usize, job: J) {
        let mut state = self.state();
        state.next += 1;
        state.weight += weight;
        let ticket = state.next;
        state.waiting.push_back(Waiting {
            ticket,
            keys,
            weight,
            job,
        });
        drop(state);
        self.changed.notify_all();
    }

    /// Returns the first job that waits for no other one, and waits until there is one; `None` once
    /// the lanes are closed and empty.
    pub fn pop(&self) -> Option<Turn<J>> {
        let mut state = self.state();
        loop {
            if let Some(turn) = state.take() {
                return Some(turn);
            }
            if state.is_closed && state.waiting.is_empty() {
                return None;
            }
            state = self
                .changed
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Says that a job has run.
    pub fn done(&self, ticket: u64) {
        let mut state = self.state();
        if let Some(at) = state.running.iter().position(|(one, ..)| *one == ticket) {
            let (_, _, weight) = state.running.swap_remove(at);
            state.weight -= weight;
        }
        drop(state);
        self.changed.notify_all();
    }

    /// Says that no more jobs come: those that are there are run.
    pub fn close(&self) {
        self.state().is_closed = true;
        self.changed.notify_all();
    }

    /// Waits until all jobs together weigh less than `weight`, and are fewer than `count`.
    pub fn wait_for_room(&self, count: usize, weight: usize) {
        let mut state = self.state();
        while state.weight >= weight || state.waiting.len() + state.running.len() >= count {
            state = self
                .changed
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Returns whether all jobs have run.
    pub fn is_idle(&self) -> bool {
        let state = self.state();
        state.waiting.is_empty() && state.running.is_empty()
    }

    /// Waits until all jobs have run, for `time` at most; returns whether they have.
    pub fn wait_until_idle(&self, time: Duration) -> bool {
        let until = Instant::now() + time;
        let mut state = self.state();
        while !(state.waiting.is_empty() && state.running.is_empty()) {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return false;
            }
            let waited = self.changed.wait_timeout(state, left);
            (state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        }
        true
    }

    fn state(&self) -> MutexGuard<'_, State<K, J>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<K: Eq + Hash, J> State<K, J> {
    fn take(&mut self) -> Option<Turn<J>> {
        let mut taken: HashSet<&K> = self.running.iter().flat_map(|(_, keys, _)| keys).collect();
        let is_free = |waiting: &Waiting<K, J>, taken: &HashSet<&K>| {
            waiting.keys.iter().all(|key| !taken.contains(key))
        };
        let mut found = None;
        for (at, waiting) in self.waiting.iter().enumerate().take(AHEAD) {
            if is_free(waiting, &taken) {
                found = Some(at);
                break;
            }
            taken.extend(&waiting.keys);
        }
        let waiting = self.waiting.remove(found?)?;
        let (ticket, job) = (waiting.ticket, waiting.job);
        self.running.push((ticket, waiting.keys, waiting.weight));
        Some(Turn { ticket, job })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::thread;

    use super::*;

    #[test]
    fn a_job_waits_for_every_earlier_one_that_shares_a_key() {
        let lanes = Lanes::default();
        lanes.push(vec!["a", "x"], 1, 1);
        lanes.push(vec!["b", "x"], 1, 2);
        lanes.push(vec!["b"], 1, 3);
        lanes.push(vec!["c"], 1, 4);
        let one = lanes.pop().unwrap();
        let four = lanes.pop().unwrap();
        assert_eq!((one.job, four.job), (1, 4));
        lanes.done(one.ticket);
        let two = lanes.pop().unwrap();
        assert_eq!(two.job, 2);
        lanes.done(two.ticket);
        assert_eq!(lanes.pop().unwrap().job, 3);
    }

    #[test]
    fn closed_lanes_end_when_they_are_empty() {
        let lanes = Lanes::default();
        lanes.push(vec!["a"], 1, ());
        lanes.close();
        let turn = lanes.pop().unwrap();
        assert!(!lanes.wait_until_idle(Duration::ZERO));
        lanes.done(turn.ticket);
        assert!(lanes.wait_until_idle(Duration::ZERO));
        assert!(lanes.pop().is_none());
    }

    #[test]
    fn jobs_of_each_key_run_in_order_by_many_threads() {
        let lanes: Arc<Lanes<usize, usize>> = Arc::default();
        let seen: Arc<Mutex<Vec<Vec<usize>>>> = Arc::new(Mutex::new(vec![Vec::new(); 7]));
        let workers: Vec<_> = (0..4)
            .map(|_| {
                let (lanes, seen) = (Arc::clone(&lanes), Arc::clone(&seen));
                thread::spawn(move || {
                    while let Some(turn) = lanes.pop() {
                        thread::yield_now();
                        seen.lock().unwrap()[turn.job % 7].push(turn.job);
                        lanes.done(turn.ticket);
                    }
                })
            })
            .collect();
        for job in 0..700 {
            lanes.wait_for_room(32, usize::MAX);
            lanes.push(vec![job % 7], 1, job);
        }
        lanes.close();
        for worker in workers {
            worker.join().unwrap();
        }
        for (key, jobs) in seen.lock().unwrap().iter().enumerate() {
            let wanted: Vec<usize> = (0..100).map(|round| round * 7 + key).collect();
            assert_eq!(*jobs, wanted);
        }
    }
}
