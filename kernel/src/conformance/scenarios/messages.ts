import { wireCodes } from "../../protocol/errors.ts";
import { abiBounds } from "../../sandbox/abi/v1/bounds.ts";
import { isJsonObject } from "../../base/json.ts";
import { holds, Violation } from "../results.ts";
import { pingFault, resultOf, type Scenario } from "../scenario.ts";

/** Bytes over the limit of a line. */
const overBytes = 64 * 1024;

/** Lines, whatever is in them. */
export const messages: readonly Scenario[] = [
  {
    rule: "lines",
    title: "A message is a line, in whatever pieces its bytes arrive.",
    needs: ["ping"],
    async try(attempt) {
      const { peer } = await attempt.open();
      const together = [peer.register("ping"), peer.register("ping")];
      peer.bytes(together.map(({ id }) => `${pingLine(id)}\n`).join(""));
      const divided = peer.register("ping");
      const line = `${pingLine(divided.id)}\n`;
      peer.bytes(line.slice(0, 20));
      for (const sent of together) await peer.answerTo(sent);
      // The answers show that the guest has read the first piece, or is waiting for more of it.
      peer.bytes(line.slice(20));
      await peer.answerTo(divided);
      return holds("Two messages in one piece and one in two pieces were answered.");
    },
  },
  {
    rule: "unknown-method",
    title: "A method that the guest does not know is answered with -32601.",
    needs: ["ping"],
    async try(attempt) {
      const { peer } = await attempt.open();
      const answer = await peer.ask("addedLater", { name: "example" });
      if (answer.kind === "result") throw new Violation("It answered an unknown method with a result.");
      if (answer.error.code !== wireCodes.MethodNotFound)
        throw new Violation(`It answered an unknown method with the error ${answer.error.code}.`);
      await peer.probe("an unknown method");
      return holds("It answered -32601.");
    },
  },
  {
    rule: "unknown-fields",
    title: "Fields that the guest does not know are ignored, in messages, params and events.",
    needs: ["ping"],
    async try(attempt) {
      const peer = await attempt.start();
      const added = { added_later: { list: [1, null, "ä→\u{1f5c2}", { deep: [true, -1.5e-3] }] } };
      await attempt.initialize(peer, added);
      await peer.ask("startup", added);
      const ping = peer.send("ping", added, added);
      const fault = pingFault(resultOf("ping", await peer.answerTo(ping)));
      if (fault !== null) throw new Violation(fault);
      return holds("initialize, startup and ping were answered as without them.");
    },
  },
  {
    rule: "unknown-notification",
    title: "A message without an id has no answer, and one that the guest does not know is ignored.",
    needs: ["ping"],
    async try(attempt) {
      const { peer } = await attempt.open();
      const faults = peer.collectFaults();
      peer.raw('{"jsonrpc":"2.0","method":"addedLater","params":{"name":"example"}}');
      await peer.probe("an unknown notification");
      if (faults.length > 0) throw new Violation(`It answered a notification: ${faults[0]}`);
      return holds("It was ignored.");
    },
  },
  {
    rule: "malformed-lines",
    title: "A line that is not a message is ignored, or answered with an error whose id is null.",
    needs: ["ping"],
    async try(attempt) {
      const { peer } = await attempt.open();
      const faults = peer.collectFaults();
      const lines = ["", "no JSON", '{"jsonrpc":"2.0","id":', "[]", "{}", '"text"', "null", '{"method":[1]}'];
      for (const line of lines) {
        peer.raw(line);
        await peer.probe(line === "" ? "an empty line" : `the line ${line}`);
      }
      const wrong = faults.find((line) => !isNullError(line));
      if (wrong !== undefined) throw new Violation(`It answered a malformed line: ${wrong}`);
      return holds(`${lines.length} malformed lines did not stop it.`);
    },
  },
  {
    rule: "largest-line",
    title: "The guest reads lines of up to 1 MiB with their newline.",
    needs: ["ping"],
    async try(attempt) {
      const { peer } = await attempt.open();
      const ping = peer.register("ping");
      peer.raw(paddedPing(ping.id, abiBounds.maxLineBytes - 1));
      const fault = pingFault(resultOf("ping", await peer.answerTo(ping)));
      if (fault !== null) throw new Violation(fault);
      return holds("It answered a ping of exactly 1 MiB.");
    },
  },
  {
    rule: "oversized-line",
    title: "A line over 1 MiB is answered or ignored, or the guest exits; it neither hangs nor fails.",
    needs: ["lines", "largest-line"],
    async try(attempt) {
      const { peer } = await attempt.open();
      const oversized = peer.register("ping");
      peer.raw(paddedPing(oversized.id, abiBounds.maxLineBytes + overBytes));
      try {
        await peer.probe("a line over 1 MiB");
      } catch (error) {
        if (peer.hasExited) return holds("It exited.");
        throw error;
      }
      return holds(oversized.place === null ? "It was ignored." : "It was answered.");
    },
  },
  {
    rule: "unknown-answers",
    title: "An answer to a call that the guest has not open is ignored.",
    needs: ["ping"],
    async try(attempt) {
      const { peer } = await attempt.open();
      const answers = [
        { id: 987_654_321, result: { value: "nobody asked" } },
        { id: "nobody-asked", result: null },
        { id: -1, error: { code: wireCodes.NotFound, message: "Nobody asked.", data: { code: "NotFound" } } },
      ];
      for (const answer of answers) {
        peer.raw(JSON.stringify({ jsonrpc: "2.0", ...answer }));
        await peer.probe(`an answer with the id ${JSON.stringify(answer.id)}`);
      }
      return holds(`${answers.length} answers that nobody asked for were ignored.`);
    },
  },
];

function pingLine(id: number): string {
  return JSON.stringify({ jsonrpc: "2.0", id, method: "ping", params: {} });
}

function paddedPing(id: number, bytes: number): string {
  const line = (padding: string): string =>
    JSON.stringify({ jsonrpc: "2.0", id, method: "ping", params: { padding } });
  return line("x".repeat(bytes - line("").length));
}

/** JSON-RPC's own answer to what cannot be parsed. */
function isNullError(line: string): boolean {
  try {
    const value: unknown = JSON.parse(line);
    return isJsonObject(value) && value["id"] === null && isJsonObject(value["error"]);
  } catch {
    return false;
  }
}
