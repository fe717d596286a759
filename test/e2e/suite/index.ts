import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";

/** What a test came to; `error` where it failed. */
export interface TestResult {
  readonly title: string;
  readonly error?: string;
}

/** Of one test, in milliseconds: real processes on a busy machine. */
const timeoutMs = 60_000;

/**
 * Called by VS Code in its extension host; writes what the tests came to where `LARES_E2E_RESULTS` says. Only those whose
 * titles match run where `LARES_E2E_GREP` gives an expression.
 */
export async function run(): Promise<void> {
  // An ES module: what `require` would give of it has its class in another place.
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
