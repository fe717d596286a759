import { expect, test, vi } from "vitest";
import type { Log } from "../base/log.ts";
import type { WorkProgress } from "../services/ports.ts";
import { maxUnanswered, ProgressReporter } from "./progress.ts";
import type { Session } from "./session/session.ts";

const silent: Log = { debug() {}, info() {}, warn() {}, error() {} };

function reporter() {
  const asked: PromiseWithResolvers<unknown>[] = [];
  const told: { kind: string; message?: string }[] = [];
  const endpoint = {
    request: () => {
      const answer = Promise.withResolvers<unknown>();
      asked.push(answer);
      return answer.promise;
    },
    notifyStandard: (_method: string, { value }: { value: { kind: string } }) => told.push(value),
  };
  const session = { supportsProgress: true, endpoint } as unknown as Session;
  return { asked, told, progress: new ProgressReporter(session, { cancel: vi.fn() }, silent) };
}

const begin = (work: string): WorkProgress => ({ kind: "begin", work, title: work });
const at = (work: string, percentage: number): WorkProgress => ({
  kind: "report",
  work,
  message: `${percentage}`,
  percentage,
});

test("a client that accepts the token late gets the beginning, the last report and everything after", async () => {
  const { asked, told, progress } = reporter();
  progress.report(begin("a"));
  for (let percentage = 0; percentage <= 90; percentage++) progress.report(at("a", percentage));
  asked[0]?.resolve(null);
  await expect.poll(() => told.map(({ kind, message }) => message ?? kind)).toEqual(["begin", "90"]);
  progress.report(at("a", 95));
  progress.report({ kind: "end", work: "a", message: "done" });
  expect(told.map(({ kind, message }) => message ?? kind)).toEqual(["begin", "90", "95", "done"]);
});

test("a client that does not answer gets a bounded number of requests, and more once it answers", async () => {
  const { asked, progress } = reporter();
  for (let work = 0; work < 1000; work++) {
    progress.report(begin(`${work}`));
    progress.report({ kind: "end", work: `${work}`, message: "" });
  }
  expect(asked).toHaveLength(maxUnanswered);
  asked[0]?.resolve(null);
  asked[1]?.reject(new Error("no"));
  await expect
    .poll(() => {
      progress.report(begin("more"));
      return asked.length;
    })
    .toBe(maxUnanswered + 2);
});
