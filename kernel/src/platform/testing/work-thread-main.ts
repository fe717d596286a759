import { threadId } from "node:worker_threads";
import { invalidParams } from "../../base/errors.ts";
import { serveWork } from "../children/work-requests.ts";

/** How long "wait" takes without computing: longer than the limits that tests set, in milliseconds. */
const waitMs = 900;

/** Answers with the request and its thread; some requests do harm instead. */
serveWork(() => async (request) => {
  switch (request) {
    case "spin":
      for (;;);
    case "fill": {
      const kept: string[][] = [];
      for (let at = 0; ; at++) kept.push(Array.from({ length: 10_000 }, (_, index) => `${at} ${index}`));
    }
    case "refuse":
      throw invalidParams("No.", { why: "test" });
    case "throw":
      throw new RangeError("It throws.");
    case "die":
      setImmediate(() => {
        throw new Error("It dies.");
      });
      return new Promise<never>(() => undefined);
    case "wait":
      await new Promise((resolve) => setTimeout(resolve, waitMs));
      return { answer: { request, threadId } };
    default:
      return { answer: { request, threadId } };
  }
});
