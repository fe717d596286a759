import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";

/** The result of a test; `error` if it failed. */
export interface TestResult {
  readonly title: string;
  readonly error?: string;
}

/** Timeout of one test, in milliseconds: real processes on a busy machine. */
const timeoutMs = 60_000;

/**
 * Called by VS Code in its extension host; writes the results to the file in `LARES_E2E_RESULTS`. With
 * `LARES_E2E_GREP`, runs only tests whose titles match.
 */
export async function run(): Promise<void> {
  // As an ES module, its class is the default export, unlike with `require`.
  const { default: Mocha } = await import("mocha");
  const mocha = new Mocha({ ui: "bdd", color: false, timeout: timeoutMs, reporter: "min" });
  const wanted = process.env["LARES_E2E_GREP"];
  if (wanted) mocha.grep(new RegExp(wanted));
  for (const name of readdirSync(__dirname).toSorted())
    if (name.endsWith(".suite.cjs")) mocha.addFile(join(__dirname, name));
  const results: TestResult[] = [];
  await new Promise<void>((resolve, reject) => {
    const runner = mocha.run((failures) => {
      const path = process.env["LARES_E2E_RESULTS"];
      if (path !== undefined) writeFileSync(path, JSON.stringify(results));
      if (failures === 0) resolve();
      else reject(new Error(`${failures} failed`));
    });
    runner.on("pass", (test) => results.push({ title: test.fullTitle() }));
    runner.on("fail", (test, error: Error) => {
      results.push({ title: test.fullTitle(), error: error.stack ?? String(error) });
    });
  });
}
