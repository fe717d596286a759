import { expect, test } from "vitest";
import { newId } from "../base/ids.ts";
import {
  begunAt,
  commonLineage,
  type Lineage,
  lineageUnder,
  ownAccord,
  type ProcessPrincipal,
  readLineage,
} from "../base/vocabulary/principal.ts";
import { StoppedWork } from "./stopped-work.ts";

const process = (conversation: string, id: string): ProcessPrincipal => ({
  kind: "process",
  process: "worker",
  agent: "dev.mind",
  conversation,
  id,
  lineage: ownAccord,
});
/** Returns the lineage of a tool's work for a process, after it was stored with a job. */
const workOf = (conversation: string, id: string): Lineage => {
  const called = lineageUnder(begunAt(process(conversation, id), newId()));
  const further = lineageUnder({ kind: "agent", id: "dev.tool", lineage: called });
  return readLineage(JSON.parse(JSON.stringify(further)));
};

test("a stop holds for what was begun before it, of the whole conversation or of single processes", () => {
  const stopped = new StoppedWork();
  const [one, other, elsewhere] = [workOf("c", "1"), workOf("c", "2"), workOf("d", "1")];
  stopped.stop("c", ["1"]);
  expect([one, other, elsewhere].map((work) => stopped.isStopped(work))).toEqual([true, false, false]);
  const later = workOf("c", "1");
  expect(stopped.isStopped(later)).toBe(false);
  stopped.stop("c", null);
  expect([other, later, elsewhere].map((work) => stopped.isStopped(work))).toEqual([true, true, false]);
  expect(stopped.isStopped(workOf("c", "2"))).toBe(false);
  expect(() => stopped.check(one)).toThrow(expect.objectContaining({ code: "RequestCancelled" }));
});

test("work for several processes is stopped with any of them, and what names no time is not", () => {
  const stopped = new StoppedWork();
  const common = commonLineage([workOf("c", "1"), workOf("d", "2")]);
  const again = commonLineage([workOf("c", "1"), common]);
  stopped.stop("d", ["2"]);
  expect(stopped.isStopped(common)).toBe(true);
  expect(stopped.isStopped(again)).toBe(true);
  stopped.stop("e", null);
  expect(stopped.isStopped(lineageUnder(process("e", "1")))).toBe(false);
  expect(stopped.isStopped(ownAccord)).toBe(false);
});

test("of two times of a process the earlier one counts", () => {
  const stopped = new StoppedWork();
  const before = workOf("c", "1");
  stopped.stop("c", ["1"]);
  expect(stopped.isStopped(commonLineage([workOf("c", "1"), before]))).toBe(true);
});
