import type { Diagnostic } from "vscode-languageserver";
import { pathOfFileUri } from "../base/file-uri.ts";
import type { Agent, AgentFailure } from "../base/vocabulary/agent.ts";
import type { AgentService } from "../services/ports.ts";
import { publishDiagnostics } from "./session/publish-diagnostics.ts";
import type { Session } from "./session/session.ts";
import type { TextChange } from "./text-documents.ts";

interface OpenProgram {
  readonly path: string;
  /** When the failures happened that the text was changed after: their lines are not those of the text any more. */
  passed: string;
  /** What was published last, as JSON. */
  published: string;
}

const nothing = "[]";

/**
 * Shows each agent's last failure at its line of the program that is open in the client, until the handler succeeds or
 * the text changes.
 */
export class ProgramFailures {
  readonly #agents: Pick<AgentService, "list">;
  readonly #session: Session;
  readonly #isChecked: (uri: string) => boolean;
  readonly #open = new Map<string, OpenProgram>();
  /** By agent; read when the first document is opened, and then kept current. */
  #failures: Map<string, AgentFailure> | null = null;

  /** `isChecked`: whether the diagnostics of this document are published by another part. */
  constructor(agents: Pick<AgentService, "list">, session: Session, isChecked: (uri: string) => boolean) {
    this.#agents = agents;
    this.#session = session;
    this.#isChecked = isChecked;
  }

  /** Called when the client opened, changed, saved or closed a document. */
  textChanged(uri: string, how: TextChange): void {
    const known = this.#open.get(uri);
    if (how === "closed") {
      if (known !== undefined) this.#show(uri, known, []);
      this.#open.delete(uri);
    } else if (how === "opened" || known === undefined) {
      const path = pathOfFileUri(uri, process.platform);
      if (path === null || this.#isChecked(uri) || !this.#session.documents.has(uri)) return;
      const opened = { path, passed: "", published: known?.published ?? nothing };
      this.#open.set(uri, opened);
      this.#look(uri, opened);
    } else if (how === "changed") {
      known.passed = newest(this.#failuresIn(known));
      this.#show(uri, known, []);
    }
  }

  agentChanged({ id, last_failure: failure }: Agent): void {
    const failures = this.#failures;
    const before = failures?.get(id);
    if (failures === null || (before?.at === failure?.at && before?.handler === failure?.handler)) return;
    if (failure === undefined) failures.delete(id);
    else failures.set(id, failure);
    const paths = [before, failure].map((each) => each?.place?.path);
    for (const [uri, known] of this.#open) if (paths.includes(known.path)) this.#look(uri, known);
  }

  #look(uri: string, known: OpenProgram): void {
    const text = this.#session.documents.text(uri);
    const failures = text === null ? [] : this.#failuresIn(known);
    this.#show(
      uri,
      known,
      failures.filter(({ at }) => at > known.passed).map((failure) => diagnosticOf(failure, text ?? "")),
    );
  }

  #failuresIn({ path }: OpenProgram): AgentFailure[] {
    this.#failures ??= new Map(
      this.#agents
        .list()
        .flatMap(({ id, last_failure: failure }) => (failure === undefined ? [] : [[id, failure]])),
    );
    return [...this.#failures.values()].filter(({ place }) => place?.path === path);
  }

  #show(uri: string, known: OpenProgram, diagnostics: readonly Diagnostic[]): void {
    const published = JSON.stringify(diagnostics);
    if (known.published === published) return;
    known.published = published;
    publishDiagnostics(this.#session, uri, diagnostics);
  }
}

function newest(failures: readonly AgentFailure[]): string {
  return failures.reduce((latest, { at }) => (at > latest ? at : latest), "");
}

function diagnosticOf({ handler, message, at, place }: AgentFailure, text: string): Diagnostic {
  const line = (place?.line ?? 1) - 1;
  const words = text.split("\n", line + 1)[line]?.trimEnd() ?? "";
  return {
    range: {
      start: { line, character: words.length - words.trimStart().length },
      end: { line, character: words.length },
    },
    severity: 1,
    code: "handler-failed",
    source: "lares",
    message: `${handler} failed at ${at}: ${message}`,
  };
}
