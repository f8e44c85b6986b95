//! Work that may take a while, on a thread where nobody waits for it.

/// What came of it; None if it panicked, or if the system has no thread for it.
pub async fn run<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Option<T> {
    // Without a thread `spawn_blocking` panics: in a task of its own that costs nothing but the answer.
    let task = tokio::spawn(async { tokio::task::spawn_blocking(work).await.ok() });
    task.await.ok().flatten()
}
