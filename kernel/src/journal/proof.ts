import type { JsonValue } from "../base/json.ts";
import { type Checkpoint, fits } from "./checkpoint.ts";
import type { RecordForm } from "./record.ts";
import { type KnownEnd, scanJournal, type ScanOptions, type ScanResult, type VisitRecord } from "./scan.ts";
import type { Segment } from "../memory-contract/segments.ts";
import { Tally } from "./tally.ts";

/** State that a journal's user computes from the records while they are proven. */
export interface Fold<Kind extends string> {
  readonly visit: VisitRecord<Kind>;
  /** Returns the state, from which another fold can continue; stored in checkpoints. */
  save(): JsonValue;
}

/** Starts a fold at the first record, or from a saved state; null if that is invalid. */
export type StartFold<Kind extends string, F extends Fold<Kind>> = {
  (saved: null): F;
  (saved: JsonValue): F | null;
};

export interface Proof<Kind extends string, F extends Fold<Kind>> extends ScanResult {
  /** Counts the records that have their data. */
  readonly tally: Tally<Kind>;
  readonly fold: F;
  /** From which a later proof can continue; null if the journal does not allow one. */
  readonly checkpoint: Checkpoint | null;
}

export interface ProofOptions<Kind extends string, F extends Fold<Kind>> extends Pick<ScanOptions, "pause"> {
  readonly form: RecordForm<Kind>;
  readonly startFold: StartFold<Kind, F>;
}

/** Proves a journal from its root, and computes its state. */
export function prove<Kind extends string, F extends Fold<Kind>>(
  segments: readonly Segment[],
  anchor: KnownEnd,
  options: ProofOptions<Kind, F>,
): Promise<Proof<Kind, F>> {
  return run(segments, anchor, options, options.startFold(null));
}

/** Proves what follows a checkpoint, and some records before it; null if the checkpoint or a record does not fit. */
export async function proveFrom<Kind extends string, F extends Fold<Kind>>(
  from: Checkpoint,
  segments: readonly Segment[],
  anchor: KnownEnd,
  options: ProofOptions<Kind, F>,
): Promise<Proof<Kind, F> | null> {
  const fold = options.startFold(from.state);
  // Anchor and checkpoint are stored together, so an anchor that lags behind is not the right one.
  if (fold === null || anchor.seq < from.at.end.seq || !fits(from, segments)) return null;
  const proof = await run(segments, anchor, options, fold, from);
  return proof.firstBad === null ? proof : null;
}

async function run<Kind extends string, F extends Fold<Kind>>(
  segments: readonly Segment[],
  anchor: KnownEnd,
  { form, pause }: ProofOptions<Kind, F>,
  fold: F,
  from?: Checkpoint,
): Promise<Proof<Kind, F>> {
  const tally = new Tally<Kind>(from?.tally);
  const scan = await scanJournal(
    segments,
    anchor,
    form,
    (record, place, line) => {
      if (!record.isRedacted) tally.add(record, line.length + 1);
      fold.visit(record, place, line);
    },
    { ...(from === undefined ? {} : { from }), ...(pause === undefined ? {} : { pause }) },
  );
  return { ...scan, tally, fold, checkpoint: checkpointOf(scan, segments, tally, fold) };
}

function checkpointOf(
  { at, again, firstBad, firstSeqs, redactions }: ScanResult,
  segments: readonly Segment[],
  tally: Tally<string>,
  fold: Fold<never>,
): Checkpoint | null {
  if (firstBad !== null || redactions.pending.size > 0 || at.end.seq === 0) return null;
  return {
    at,
    again,
    segments: firstSeqs.slice(0, at.segment + 1).map((firstSeq, index) => ({
      firstSeq,
      size: index === at.segment ? at.offset : (segments[index]?.size ?? 0),
    })),
    lastRedact: redactions.last,
    redacted: redactions.count,
    tally: tally.save(),
    state: fold.save(),
  };
}
