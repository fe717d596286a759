import type { Finding } from "./render/findings.ts";

/** A session with a workspace's kernel, after `initialize` and `initialized`. */
export interface KernelConnection extends AsyncDisposable {
  /** The result, or a LaresError with the catalogue's code. */
  request(method: string, params: object): Promise<unknown>;
  /** Every notification of the kernel, in the order they came. */
  onNotification(listener: (method: string, params: unknown) => void): Disposable;
  /** Resolves when the connection is gone for good, with the reason. */
  readonly closed: Promise<{ readonly reason: string }>;
}

export interface ConnectOptions {
  /** Absolute path of the workspace. */
  readonly folder: string;
  /** As in `initialize`: true accepts the workspace's documents as they are now; false: this session is untrusted. */
  readonly trusted?: boolean;
}

/** A value of the configuration and where it came from. */
export interface ExplainedValue {
  /** Dotted: "approvals.auto_approve_below" */
  readonly key: string;
  readonly value: unknown;
  readonly source: "environment" | "workspace" | "user" | "defaults";
  /** The variable's name, or file:line; empty where it is not known. */
  readonly place: string;
}

export interface ServeOptions {
  readonly stdio: boolean;
  readonly pipe?: string;
  readonly clientProcessId?: number;
  /** Keeps the kernel when the last client has left. */
  readonly keep: boolean;
}

/** What `stop` came to. */
export interface StoppedKernel {
  /** Null where none was there. */
  readonly pid: number | null;
  /** It did not end when it was asked to. */
  readonly killed: boolean;
}

export interface ProbeResult {
  readonly ok: boolean;
  readonly detail: string;
}

export interface Explanation {
  readonly values: readonly ExplainedValue[];
  /**
   * Sentences about environment variables that look like a setting but are not, or that hold a value that is not
   * allowed.
   */
  readonly environmentFaults: readonly string[];
  /** The names of folders and files that are asked about each time, whatever rules allow; "*" is any text. */
  readonly protected: readonly {
    readonly reason: string;
    readonly folders: readonly string[];
    readonly files: readonly string[];
  }[];
}

/** A model that can be fetched. */
export interface ModelOffer {
  /** As `memory.embedder` knows it. */
  readonly name: string;
  readonly title: string;
  readonly licence: string;
  /** Size of the download. */
  readonly megabytes: number;
}

export interface ModelReady {
  /** Absolute path of the .onnx file. */
  readonly path: string;
  /** False where it was there already. */
  readonly fetched: boolean;
  /** Whether what runs it is installed. */
  readonly runtime: boolean;
  /** The person's own lares.yaml, whether it is there yet or not. */
  readonly document: string;
}

/** What the commands need of the rest; handed in by `main.ts`. */
export interface CliPorts {
  readonly version: string;
  /** Joins the workspace's kernel, or starts it. */
  connect(options: ConnectOptions): Promise<KernelConnection>;
  /** Faults of one document (`lares.*` or `extension.*`), all that can be known without running a kernel. */
  checkDocument(path: string): Promise<readonly Finding[]>;
  /** Bundles or checks the program of the extension in this folder; the sentence that says why it cannot run, or null. */
  programFault(folder: string): Promise<string | null>;
  /** The workspace's configuration as resolved, every value with its source. */
  explain(folder: string): Promise<Explanation>;
  /** Speaks the protocol until the client leaves; the process's exit code. */
  serve(options: ServeOptions): Promise<number>;
  /** Ends the kernel of the workspace that these folders make, whether it answers or not. Absolute paths. */
  stopKernel(folders: readonly string[]): Promise<StoppedKernel>;
  /** Where state is kept, without starting anything. */
  stateHome(): string;
  /** Starts a guest and has it answer. */
  probeSandbox(): Promise<ProbeResult>;
  models(): readonly ModelOffer[];
  /** Brings a model of `models()` to the person's cache. */
  fetchModel(name: string, signal: AbortSignal): Promise<ModelReady>;
  /** `examples/` of a source checkout; null where there is none. */
  readonly examplesFolder: string | null;
  /** `manifests/templates`. */
  readonly templatesFolder: string;
  /** The `@lares/sdk` that programs are bundled with. */
  readonly sdkFolder: string;
}
