/** Waits until a condition holds; fails with its name after five seconds. */
export async function until(what: string, isTrue: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = performance.now() + 5_000;
  while (!(await isTrue())) {
    if (performance.now() > deadline) throw new Error(`It never came: ${what}.`);
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}
