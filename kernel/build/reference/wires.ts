/** `schemas/protocol.md` and `schemas/guest-abi.md`. Pure: schemas and examples in, Markdown out. */
import type { Examples } from "./examples.ts";
import { interceptAnswers } from "../../src/base/vocabulary/interception.ts";
import { questionBounds } from "../../src/agents/calls/questions.ts";
import { commonFields, entryMethods, eventTypes } from "../../src/events/types.ts";
import type { MethodErrors, ParamsShape, RequestShape } from "../../src/protocol/define.ts";
import { commonCallErrors, commonRequestErrors, errorMeanings } from "../../src/protocol/error-meanings.ts";
import { wireCodes } from "../../src/protocol/errors.ts";
import { guestCalls } from "../../src/protocol/guest/v1/calls.ts";
import { guestRequests } from "../../src/protocol/guest/v1/lifecycle.ts";
import { guestNotifications } from "../../src/protocol/guest/v1/notifications.ts";
import { publishedSchemas } from "../../src/protocol/published/published.ts";
import { commandShapes } from "../../src/protocol/v1/commands.ts";
import { kernelRequests } from "../../src/protocol/v1/kernel-requests.ts";
import { serverNotifications } from "../../src/protocol/v1/notifications.ts";
import { clientRequests } from "../../src/protocol/v1/requests.ts";
import { openToUntrusted } from "../../src/server/handlers.ts";
import { FieldRenderer, type Schema, sentence } from "./fields.ts";
import { contents, errorList, examples, generated, json, link, page, part } from "./page.ts";

type Definitions = Readonly<Record<string, Schema>>;

const conventions = [
  "A `?` behind a field's name says that the field may be left out. Strings are UTF-8. Times are UTC in ISO 8601.",
  'Paths are relative to the workspace, with "/" between their parts and no leading "./"; with several roots they begin with the root\'s name.',
  "A hash is `sha256:` and 64 hexadecimal digits. In the examples ids, hashes, times, sizes and places are replaced by stable ones.",
].join(" ");

export function protocolPage(introduction: string, recorded: Examples): string {
  const definitions = definitionsOf("protocol.schema.json");
  const fields = new FieldRenderer(definitions);
  return page([
    "# The protocol, version 1",
    "",
    generated,
    "",
    introduction.trim(),
    "",
    "## How to read this page",
    "",
    `${conventions} The machine-readable form is [\`protocol.schema.json\`](protocol.schema.json).`,
    "",
    "- [Requests](#requests)",
    "- [Requests to a client](#requests-to-a-client)",
    "- [Notifications](#notifications)",
    "- [Commands](#commands)",
    "- [Types](#types)",
    "- [Errors](#errors)",
    "",
    "## Requests",
    "",
    "From a client to the kernel.",
    "",
    ...contents("method", clientRequests),
    ...Object.entries(clientRequests).flatMap(([method, shape]) => [
      ...requestSection(method, shape, definitions, fields, recorded, "[common ones](#errors)", {
        after: openToUntrusted.has(method) ? "Open to connections that are not trusted." : "",
      }),
    ]),
    "## Requests to a client",
    "",
    "From the kernel to a client that declared that it answers them.",
    "",
    ...contents("method", kernelRequests),
    ...Object.entries(kernelRequests).flatMap(([method, shape]) =>
      requestSection(method, shape, definitions, fields, recorded, "others", { prefix: "kernel:" }),
    ),
    "## Notifications",
    "",
    "From the kernel to its clients.",
    "",
    ...contents("method", serverNotifications),
    ...Object.keys(serverNotifications).flatMap((method) =>
      notificationSection(
        method,
        serverNotifications[method as keyof typeof serverNotifications],
        definitions,
        fields,
        recorded,
      ),
    ),
    "## Commands",
    "",
    "What `workspace/executeCommand` of the Language Server Protocol takes. `arguments` holds one object.",
    "",
    ...Object.entries(commandShapes).flatMap(([name, { about }]) => {
      const { properties = {}, required = [] } = commandShapes[name as keyof typeof commandShapes]
        .params as Schema;
      const names = Object.keys(properties).map(
        (field) => `\`${field}${required.includes(field) ? "" : "?"}\``,
      );
      return [`- \`${name}\` { ${names.join(", ")} }: ${about}`];
    }),
    "",
    ...typeSections(definitions, fields),
    ...errorSection(commonRequestErrors, "Any request"),
    "Faults of JSON-RPC itself have its codes: `-32700` for a body that is not JSON, `-32600` for one that is not a request, `-32800` for a request that the client cancelled.",
    "",
  ]);
}

export function guestPage(introduction: string, recorded: Examples): string {
  const definitions = definitionsOf("guest-abi.schema.json");
  const fields = new FieldRenderer(definitions);
  return page([
    "# The guest ABI, version 1",
    "",
    generated,
    "",
    introduction.trim(),
    "",
    "## How to read this page",
    "",
    `${conventions} The machine-readable form is [\`guest-abi.schema.json\`](guest-abi.schema.json).`,
    "",
    "- [Requests to the guest](#requests-to-the-guest)",
    "- [Host calls](#host-calls)",
    "- [Notifications of the guest](#notifications-of-the-guest)",
    "- [Events](#events)",
    "- [Interception](#interception)",
    "- [Types](#types)",
    "- [Errors](#errors)",
    "",
    "## Requests to the guest",
    "",
    "From the kernel to the guest. A guest may answer any of them with an error; the message goes into the agent's traces.",
    "",
    ...contents("method", guestRequests),
    ...Object.entries(guestRequests).flatMap(([method, shape]) =>
      requestSection(method, shape, definitions, fields, recorded, "", { prefix: "kernel:" }),
    ),
    "## Host calls",
    "",
    "From the guest to the kernel. The order of refusals is: shape, permission, path and location, the permission's own filter.",
    "",
    ...contents("method", guestCalls),
    ...Object.entries(guestCalls).flatMap(([method, shape]) =>
      requestSection(method, shape, definitions, fields, recorded, "[common ones](#errors)"),
    ),
    "## Notifications of the guest",
    "",
    ...Object.entries(guestNotifications).flatMap(([method, shape]) =>
      notificationSection(method, shape, definitions, fields, recorded),
    ),
    ...eventSection(),
    ...interceptionSection(fields),
    ...typeSections(definitions, fields),
    ...errorSection(commonCallErrors, "Any host call"),
  ]);
}

interface Extras {
  readonly after?: string;
  /** The names of its definitions. */
  readonly prefix?: string;
}

function requestSection(
  method: string,
  { about, errors }: RequestShape,
  definitions: Definitions,
  fields: FieldRenderer,
  { requests }: Examples,
  common: string,
  { after = "", prefix = "" }: Extras = {},
): string[] {
  return [
    `### \`${method}\``,
    "",
    about,
    "",
    ...(after === "" ? [] : [after, ""]),
    ...part("Params", definitions[`${prefix}${method}:params`] ?? {}, fields),
    ...part("Result", definitions[`${prefix}${method}:result`] ?? {}, fields),
    ...(common === "" ? [] : errorList(errors, common)),
    ...examples(requests[method] ?? []),
  ];
}

function notificationSection(
  method: string,
  { about }: ParamsShape,
  definitions: Definitions,
  fields: FieldRenderer,
  { notifications }: Examples,
): string[] {
  return [
    `### \`${method}\``,
    "",
    about,
    "",
    ...part("Params", definitions[`${method}:params`] ?? {}, fields),
    "**Example**",
    "",
    ...(notifications[method] ?? []).flatMap((params) => [...folded(json({ params })), ""]),
  ];
}

function folded(block: string[]): string[] {
  return block.join("").length < 1000
    ? block
    : ["<details><summary>The params</summary>", "", ...block, "", "</details>"];
}

function typeSections(definitions: Definitions, fields: FieldRenderer): string[] {
  const types = Object.entries(definitions).filter(
    ([name]) => !name.includes(":") && name !== "ErrorCode" && /^[A-Z]/.test(name),
  );
  return [
    "## Types",
    "",
    types
      .map(([name]) => link(name))
      .toSorted()
      .join(" · "),
    "",
    ...types
      .toSorted(([left], [right]) => (left < right ? -1 : 1))
      .flatMap(([name, schema]) => [
        `### \`${name}\``,
        "",
        sentence(schema.description),
        "",
        ...fields.list(schema),
        "",
      ]),
  ];
}

function eventSection(): string[] {
  const common = Object.entries(commonFields).map(
    ([name, { description }]) => `\`${name}\` (${description})`,
  );
  return [
    "## Events",
    "",
    `What the request [\`hook\`](#hook) carries. Every event has ${common.join(", ")}. Filters of hooks read the same fields; on an entry they also have ${Object.keys(
      entryMethods,
    )
      .map((name) => `\`${name}()\``)
      .join(
        ", ",
      )}. What an extension emits is named \`publisher.id/EventName\` and has the fields that it was given.`,
    "",
    ...eventTypes.flatMap(({ name, description, fields }) => [
      `### \`${name}\``,
      "",
      sentence(description),
      "",
      ...Object.entries(fields).map(
        ([field, { type, description: text, values }]) =>
          `- \`${field}\` (${type === "Entry" ? "[`Entry`](#entry)" : `\`${type}\``}): ${sentence(text)}${values === undefined ? "" : ` One of ${values.map((value) => `\`${value}\``).join(", ")}.`}`,
      ),
      "",
    ]),
  ];
}

function interceptionSection(fields: FieldRenderer): string[] {
  const { startMs, answerMs } = questionBounds;
  return [
    "## Interception",
    "",
    `A hook with \`intercept: true\` is asked about an event of a mind before it takes effect, if its agent has the permission \`intercept\` for that mind. The question is a [\`hook\`](#hook) with a \`call_id\`. It is not queued and not repeated: an agent that is not loaded has ${startMs / 1000} seconds to start, and then ${answerMs / 1000} seconds to answer. Hooks with a lower \`order\` are asked first, then by the ids of their agents; each is told what the earlier ones made of the event.`,
    "",
    "If a handler throws, answers in another form, is late, or its agent is suspended, `BeforeToolCall`, `BeforeAction` and `BeforeCompact` are refused, naming the agent; the other events continue unchanged, and its traces say why. What the handler does is bounded by what the agent and the mind may do. A change is an entry of its own that names the agent; the original stays. It never counts as said by the person, and it is tainted if the agent has `allowed_hosts`.",
    "",
    "An answer is an object with these fields, all optional; unknown ones are refused:",
    "",
    ...Object.entries(interceptAnswers).flatMap(([event, schema]) => [
      `### Answer to \`${event}\``,
      "",
      ...fields.list(JSON.parse(JSON.stringify(schema)) as Schema),
      "",
    ]),
  ];
}

function errorSection(common: MethodErrors, who: string): string[] {
  return [
    "## Errors",
    "",
    "An error has a number (`code`), a sentence for a person (`message`), and `data` with the error's word as `data.code` and more facts. Programs compare `data.code`.",
    "",
    `${who} may answer with:`,
    "",
    ...Object.entries(common).map(([word, when]) => `- \`${word}\`: ${when}`),
    "",
    "All errors:",
    "",
    "| `data.code` | `code` | meaning |",
    "| --- | --- | --- |",
    ...Object.entries(errorMeanings).map(
      ([word, about]) => `| \`${word}\` | ${wireCodes[word as keyof typeof wireCodes]} | ${about} |`,
    ),
    "",
  ];
}

function definitionsOf(file: string): Definitions {
  return (publishedSchemas()[file] as { definitions: Definitions }).definitions;
}
