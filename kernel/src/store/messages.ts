import type { ErrorCode, ErrorFacts } from "../base/errors.ts";
import type { OnnxModel } from "../memory-contract/store-settings.ts";
import type {
  Embedded,
  OutsideAnswer,
  OutsideFailure,
  OutsideRequest,
  StoreMemory,
  StoreNotice,
  StoreRequestName,
} from "../memory-contract/store-port.ts";

/** Messages from the kernel to the store host. */
export type ToHost =
  | {
      readonly kind: "request";
      readonly id: number;
      readonly name: StoreRequestName;
      readonly memory: StoreMemory;
      readonly params: unknown;
      /**
       * True if hosts died while they answered for this memory: its projections are discarded and rebuilt.
       */
      readonly isQuarantined: boolean;
    }
  /** Nobody waits for the answer any more, so the request need not begin. It is answered all the same. */
  | { readonly kind: "cancel"; readonly id: number }
  /** bytes: the body of the answer. */
  | { readonly kind: "posted"; readonly id: number; readonly answer: Omit<OutsideAnswer, "body"> }
  | {
      readonly kind: "unposted";
      readonly id: number;
      readonly failure: OutsideFailure;
      readonly message: string;
    }
  /** bytes: the vectors, if there are any. */
  | {
      readonly kind: "embedded";
      readonly id: number;
      readonly answer:
        Omit<Extract<Embedded, { name: string }>, "vectors"> | Extract<Embedded, { failure: string }>;
    }
  | { readonly kind: "grown"; readonly memories: readonly StoreMemory[] }
  /** Closes everything, then ends the process. */
  | { readonly kind: "end" };

export type FromHost =
  /** bytes: the result as JSON. */
  | { readonly kind: "answer"; readonly id: number }
  | {
      readonly kind: "failed";
      readonly id: number;
      readonly code: ErrorCode;
      readonly message: string;
      readonly facts: ErrorFacts;
    }
  /** bytes: the body. Answered with `posted` or `unposted`. */
  | { readonly kind: "post"; readonly id: number; readonly request: OutsideRequest }
  | { readonly kind: "cancelPost"; readonly id: number }
  /** Answered with `embedded`. */
  | {
      readonly kind: "embed";
      readonly id: number;
      readonly model: OnnxModel;
      readonly texts: readonly string[];
    }
  | { readonly kind: "notice"; readonly notice: StoreNotice }
  /** A library leaks memory: another host should take over at a convenient moment. */
  | { readonly kind: "spent" };
