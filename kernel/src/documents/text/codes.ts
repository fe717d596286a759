export type Severity = "error" | "warning" | "information" | "hint";

interface Code {
  readonly severity: Severity;
  /** The meaning of the code, for its documentation. */
  readonly explanation: string;
}

/** Every error a document can have. A code never changes its meaning. */
export const codes = {
  "document-too-large": { severity: "error", explanation: "The text is longer than is read." },
  "document-too-complex": {
    severity: "error",
    explanation:
      "The text is nested too deeply or holds too many values; aliases count each time they are used.",
  },
  encoding: { severity: "error", explanation: "The file is not encoded as UTF-8." },
  "check-failed": {
    severity: "error",
    explanation: "A bug in Lares: a check failed over this document, which is not used.",
  },
  "more-faults": {
    severity: "information",
    explanation: "The document has more faults than are shown. Mend those, and the others appear.",
  },
  "unsupported-value": {
    severity: "error",
    explanation: "A value that JSON does not have: a binary, a timestamp, half of a surrogate pair.",
  },
  syntax: { severity: "error", explanation: "The text is not YAML 1.2 or not TOML 1.0." },
  "multiple-documents": { severity: "error", explanation: "A YAML file holds more than one document." },
  "duplicate-key": { severity: "error", explanation: "The same key occurs twice in one map." },
  "forbidden-key": {
    severity: "error",
    explanation: "A key that means something to JavaScript's objects: __proto__, constructor, prototype.",
  },
  "unsupported-number": {
    severity: "error",
    explanation: "A number that is not finite, or an integer that is not exact.",
  },
  "wrong-type": { severity: "error", explanation: "A value of another type than the field has." },
  "unknown-field": { severity: "error", explanation: "A field that the schema does not have." },
  "deprecated-field": {
    severity: "warning",
    explanation: "A field that is ignored, and the one that replaces it.",
  },
  "missing-field": { severity: "error", explanation: "A field that has to be there is not." },
  "invalid-value": {
    severity: "error",
    explanation:
      "A value of the right type that is not allowed: not of the list, out of bounds, of another form.",
  },
  "invalid-duration": {
    severity: "error",
    explanation: "A span of time that is not written like 500ms, 10s, 5m, 24h or 30d.",
  },
  "invalid-glob": {
    severity: "error",
    explanation: "A pattern that is not a glob, or has brace ranges or more than 64 alternatives.",
  },
  "invalid-namespace": {
    severity: "error",
    explanation: "An import that says not from which workspace, or a shared memory that says one.",
  },
  "duplicate-namespace": { severity: "error", explanation: "The same name for two shared memories." },
  "import-read-only": {
    severity: "warning",
    explanation: "An import that asks to write: another workspace's memory is only ever read.",
  },
  "invalid-id": { severity: "error", explanation: "An extension's id that is not a reverse domain name." },
  "invalid-version": { severity: "warning", explanation: "A version that is not of the form 1.2.3." },
  "invalid-hash": { severity: "warning", explanation: "A SHA-256 that does not have 64 hexadecimal digits." },
  "unusable-model": {
    severity: "warning",
    explanation: "A model that cannot be fetched: its address, digest or size is missing or is refused.",
  },
  "duplicate-model": {
    severity: "warning",
    explanation: "Two models of one list have the same name; only one of them counts.",
  },
  "hook-binding": {
    severity: "error",
    explanation: "A hook has both or neither of on and schedule, or a field that belongs to the other.",
  },
  "unknown-event": { severity: "error", explanation: "A hook on an event that does not exist." },
  "invalid-filter": {
    severity: "error",
    explanation: "A filter that does not parse or does not type-check against the event's fields.",
  },
  "old-spelling": {
    severity: "error",
    explanation: "A filter in the spelling of older documents; the quick fix rewrites it.",
  },
  "invalid-schedule": {
    severity: "error",
    explanation:
      "A schedule that is not a cron expression, never comes true, or names a time zone that does not exist.",
  },
  "invalid-program": {
    severity: "error",
    explanation: "A program path that leaves the extension's folder, or is neither .ts, .js nor .wasm.",
  },
  "program-not-found": { severity: "error", explanation: "The program that main names does not exist." },
  "no-program": {
    severity: "warning",
    explanation: "There are hooks or tools, but neither main nor a file of the default names.",
  },
  "handler-not-exported": {
    severity: "error",
    explanation: "A hook or tool names a handler that the program does not have.",
  },
  "duplicate-tool": { severity: "error", explanation: "Two tools of one extension have the same name." },
  "duplicate-hook": {
    severity: "warning",
    explanation: "Two hooks are the same: their handler runs twice for one event.",
  },
  "invalid-parameters": {
    severity: "error",
    explanation:
      "A tool's parameters are not a JSON Schema of an object, or are one that takes too long to check.",
  },
  "doubtful-parameters": {
    severity: "warning",
    explanation:
      "Something in a tool's parameters that arguments cannot be checked against: a keyword, a pattern, a $ref, a name.",
  },
  "file-not-found": {
    severity: "error",
    explanation: "A text that the manifest names does not exist, or is not a file.",
  },
  "file-outside": {
    severity: "error",
    explanation:
      "A text that the manifest names lies outside of the extension's folder, or a link leads there.",
  },
  "file-too-large": {
    severity: "error",
    explanation: "A text that the manifest names is larger than is read, or all of them together are.",
  },
  "file-unreadable": {
    severity: "error",
    explanation: "A text that the manifest names is not UTF-8, or may not be read.",
  },
  "invalid-skill": {
    severity: "warning",
    explanation:
      "A skill without SKILL.md, or whose front matter lacks its name or description: it is left out.",
  },
  "compaction-order": {
    severity: "error",
    explanation: "The shares at which a conversation is made shorter do not ascend.",
  },
  "block-not-shared": {
    severity: "error",
    explanation: "A block of a mind that cannot be kept in the shared memory that it names.",
  },
  "duplicate-block": { severity: "error", explanation: "Two blocks of one mind have the same name." },
  "duplicate-command": {
    severity: "error",
    explanation: "Two commands of one extension have the same name.",
  },
  "duplicate-action": {
    severity: "error",
    explanation: "An action has the name of another action, a tool or a command of its extension.",
  },
  "invalid-action-title": {
    severity: "warning",
    explanation: "The title of an action names a parameter that the action does not have.",
  },
  "duplicate-type": { severity: "error", explanation: "Two types of one extension have the same name." },
  "invalid-type-key": {
    severity: "error",
    explanation: "The key of a type is not a property that each of its values has as a string.",
  },
  "invalid-type-reference": {
    severity: "warning",
    explanation:
      "A permission to use types that is not of the form extension.id/Type, or names a type that its extension does not have.",
  },
  "unknown-tool": {
    severity: "warning",
    explanation: "A pattern of tools that matches none: the mind never gets one by it.",
  },
  "tool-not-permitted": {
    severity: "warning",
    explanation:
      "A tool that a mind may use and that needs a permission which the manifest does not ask for.",
  },
  "no-chat-model": {
    severity: "warning",
    explanation: "A mind that does not ask for a model to talk with: it never answers.",
  },
  "not-intercepting": {
    severity: "warning",
    explanation:
      "A hook that is asked before an event takes effect, and no agent under the permission intercept.",
  },
  "requirement-not-met": {
    severity: "warning",
    explanation: "The extension requires a newer kernel, or a feature that this kernel does not have.",
  },
  "extension-reference": {
    severity: "error",
    explanation: "An extension is named by neither or both of path and id.",
  },
  "extension-not-found": {
    severity: "error",
    explanation: "No extension is where the path leads, or has this id.",
  },
  "extension-invalid": {
    severity: "warning",
    explanation: "The extension is there, but its manifest has errors.",
  },
  "extension-holds-files": {
    severity: "error",
    explanation:
      "An extension's folder is, or holds, the workspace or a folder granted to an agent: its program could contain those files.",
  },
  "duplicate-extension": { severity: "error", explanation: "Two entries lead to extensions of the same id." },
  "unknown-permission": {
    severity: "error",
    explanation: "A permission that does not exist is allowed or denied.",
  },
  "matches-nothing": {
    severity: "warning",
    explanation: "A rule for a path or an extension that there cannot be: nothing is ever decided by it.",
  },
  "unknown-kind": {
    severity: "warning",
    explanation: "A rule or a permission names a kind of change that does not exist.",
  },
  "invalid-event-name": {
    severity: "warning",
    explanation: "An extension would emit or receive an event with a name that no event can have.",
  },
  "duplicate-event": { severity: "error", explanation: "One extension declares the same event twice." },
  "event-not-declared": {
    severity: "warning",
    explanation:
      "The permission emit_events lists an event that is not under events: emitting it is refused.",
  },
  "event-not-permitted": {
    severity: "warning",
    explanation: "An event is declared, and emit_events does not list it: emitting it is refused.",
  },
  "reserved-event-field": {
    severity: "error",
    explanation: "An event declares a field that every event has already, such as id.",
  },
  "event-mismatch": {
    severity: "warning",
    explanation:
      "A hook waits for an event that its publisher does not declare, or filters by a field that the event does not have.",
  },
  "event-not-heard": {
    severity: "warning",
    explanation:
      "A hook waits for an event of another extension, and hear_events does not list it: the hook never runs.",
  },
  "invalid-tool-reference": {
    severity: "warning",
    explanation: "A permission to call tools that is not of the form extension.id/tool.",
  },
  "invalid-secret-name": {
    severity: "warning",
    explanation: "A permission to use a secret of a name that no secret can have.",
  },
  "invalid-host": {
    severity: "warning",
    explanation: "A host that no request can go to: an address, a path or a pattern in place of a host.",
  },
  "invalid-proxy": {
    severity: "warning",
    explanation: "A proxy whose address cannot be used: no request leaves the machine.",
  },
  "permission-not-granted": {
    severity: "warning",
    explanation: "The manifest asks for a permission that allow leaves out.",
  },
  "invalid-provider": {
    severity: "error",
    explanation: "A provider of language models has a name or an address that cannot be used.",
  },
  "invalid-model": {
    severity: "error",
    explanation:
      "A model is not written provider/model, or its provider is not named under models.providers.",
  },
  "unknown-route": {
    severity: "warning",
    explanation: "A route for a kind of work that does not exist: no request ever takes it.",
  },
  "fallback-unused": {
    severity: "warning",
    explanation:
      "A fallback that is never asked: it would take a request off this machine that has to stay on it.",
  },
  "leak-rule-unused": {
    severity: "warning",
    explanation:
      "A pattern under `egress.leak_rules` that cannot be used; the other rules, and those that ship, still are.",
  },
  "location-outside": { severity: "error", explanation: "A location that leads out of the workspace." },
  "location-not-found": {
    severity: "warning",
    explanation: "A location that does not exist, or is not a folder.",
  },
  "document-not-counted": {
    severity: "warning",
    explanation: "The document of another folder of the same workspace counts in its stead.",
  },
  "user-only": {
    severity: "warning",
    explanation:
      "A setting that can reach out or execute: it counts in the user's document only, and is ignored here.",
  },
  "shadowed-document": {
    severity: "warning",
    explanation: "Another document of the same meaning lies beside this one, and is read instead.",
  },
  "unknown-variable": {
    severity: "warning",
    explanation: "An environment variable that looks like a setting but is not.",
  },
} as const satisfies Record<string, Code>;

export type DiagnosticCode = keyof typeof codes;
