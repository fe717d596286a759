import { VectorSet } from "@lares/sdk";
import { hashOf } from "./face-settings.ts";

/** A face as it is compared with others. */
export interface ComparedFace {
  /** Tells faces apart, and orders them: the first face of the oldest photo comes first. */
  readonly key: string;
  /** Absent: the face cannot be compared. The length of the vector does not matter. */
  readonly vector?: ArrayLike<number>;
  /** The person to whom it belonged before. */
  readonly person?: string;
}

interface ClusterOptions {
  /** The cosine similarity from which two faces are of one person. */
  readonly samePerson: number;
  /** The names that a person gave. Clusters with different names are never joined. */
  readonly names: ReadonlyMap<string, string>;
}

/** Stands for the person of a face that cannot be compared, or that exceeds the bounds. */
export const nobody = "-";
export const clusterBounds = { faces: 50_000, people: 5000 };
/** Faces between two pauses: some tenths of a second. */
const facesOfStep = 200;
/** Two people are one if their means are closer than faces have to be. */
const joinedAbove = 0.1;
/** A face changes from one person to another that is nearer by this. */
const movedBy = 0.05;
/** Nearest people that are looked at. */
const nearestLooked = 8;

/**
 * Assigns faces to people, and yields between steps. Returns the person of each face, in the order of the faces. Faces that
 * were assigned before restore their people, so that names stay when photos are added; every further face goes to the person
 * with the nearest mean, or becomes a new one. A face is compared with means and not with faces: 20,000 faces are 20,000 searches of
 * an index. The same faces give the same people, whatever their order.
 */
export function* clustering(
  faces: readonly ComparedFace[],
  { samePerson, names }: ClusterOptions,
): Generator<void, string[]> {
  const people: string[] = faces.map(() => nobody);
  const order = faces
    .map((_, at) => at)
    .toSorted((one, other) => ((faces[one]?.key ?? "") < (faces[other]?.key ?? "") ? -1 : 1))
    .slice(0, clusterBounds.faces);
  const dimensions = faces[order.find((at) => faces[at]?.vector !== undefined) ?? -1]?.vector?.length;
  if (dimensions === undefined) return people;
  const compared: Compared[] = [];
  let steps = 0;
  for (const at of order) {
    const { key = "", vector, person = "" } = faces[at] ?? {};
    const scale = vector?.length === dimensions ? scaleOf(vector) : null;
    if (vector !== undefined && scale !== null)
      compared.push({ at, key, vector, scale, before: person === nobody ? "" : person });
    if (++steps % facesOfStep === 0) yield;
  }
  const means = new Means(dimensions);
  for (const face of compared) {
    if (face.before !== "" && means.add(face.before, face)) people[face.at] = face.before;
    if (++steps % facesOfStep === 0) yield;
  }
  yield* means.refresh();
  for (const face of compared) {
    if (people[face.at] === nobody) {
      const [nearest] = means.near(face, 1);
      const isKnown = nearest !== undefined && nearest.similarity >= samePerson;
      const person = isKnown ? nearest.person : means.freeId(face.key);
      if (means.add(person, face)) people[face.at] = person;
    }
    if (++steps % facesOfStep === 0) yield;
  }
  yield* means.refresh();
  const joined = yield* means.joined(Math.min(0.97, samePerson + joinedAbove), names);
  for (const { at } of compared) people[at] = joined.get(people[at] ?? nobody) ?? nobody;
  yield;
  const after = new Means(dimensions);
  for (const face of compared) {
    const person = people[face.at] ?? nobody;
    if (person !== nobody) after.add(person, face);
    if (++steps % facesOfStep === 0) yield;
  }
  yield* after.refresh();
  // The means have moved since the first faces were assigned: each face is looked at once more.
  for (const face of compared) {
    const near = after.near(face, nearestLooked);
    const [nearest] = near;
    const own = near.find(({ person }) => person === people[face.at])?.similarity ?? -1;
    if (nearest !== undefined && nearest.similarity >= samePerson && nearest.similarity > own + movedBy)
      people[face.at] = nearest.person;
    if (++steps % facesOfStep === 0) yield;
  }
  return people;
}

/** Runs a clustering to its end. */
export function clustersOf(faces: readonly ComparedFace[], options: ClusterOptions): string[] {
  const run = clustering(faces, options);
  for (;;) {
    const { done, value } = run.next();
    if (done === true) return value;
  }
}

/** A face that can be compared. Its vector stays as it was kept: of so many faces a wider one would fill the memory. */
interface Compared {
  /** Its place among the faces. */
  readonly at: number;
  readonly key: string;
  readonly vector: ArrayLike<number>;
  /** With this its vector has the length 1. */
  readonly scale: number;
  /** The person to whom it belonged before; "" for a new face. */
  readonly before: string;
}

/** Returns what makes the vector's length 1; null if it has no direction. */
function scaleOf(vector: ArrayLike<number>): number | null {
  let sum = 0;
  for (let at = 0; at < vector.length; at++) sum += (vector[at] ?? 0) ** 2;
  return Number.isFinite(sum) && sum > 0 ? 1 / Math.sqrt(sum) : null;
}

interface Mean {
  readonly person: string;
  readonly label: number;
  /** The sum of its faces' vectors. */
  readonly sum: Float32Array;
  count: number;
}

/** The mean of each person's faces, searched by an index. */
class Means {
  readonly #byPerson = new Map<string, Mean>();
  readonly #byLabel: Mean[] = [];
  readonly #dimensions: number;
  #index: VectorSet;

  constructor(dimensions: number) {
    this.#dimensions = dimensions;
    this.#index = this.#emptyIndex();
  }

  /** Returns false if it would be one person too many. */
  add(person: string, { vector, scale }: Pick<Compared, "vector" | "scale">): boolean {
    let mean = this.#byPerson.get(person);
    if (mean === undefined) {
      if (this.#byLabel.length >= clusterBounds.people) return false;
      mean = { person, label: this.#byLabel.length, sum: new Float32Array(vector.length), count: 0 };
      this.#byPerson.set(person, mean);
      this.#byLabel.push(mean);
    }
    const { sum } = mean;
    for (let at = 0; at < sum.length; at++) sum[at] = (sum[at] ?? 0) + (vector[at] ?? 0) * scale;
    mean.count += 1;
    // With its first faces a mean moves, later hardly: it is entered again when it has twice as many.
    if ((mean.count & (mean.count - 1)) === 0) this.#enter(mean);
    return true;
  }

  /** Enters all means as they are now. A new index is filled faster than an old one is changed. */
  *refresh(): Generator<void, void> {
    this.#index = this.#emptyIndex();
    for (const mean of this.#byLabel) {
      this.#enter(mean);
      if ((mean.label + 1) % facesOfStep === 0) yield;
    }
  }

  near(
    { vector }: Pick<Compared, "vector">,
    count: number,
  ): { readonly person: string; readonly similarity: number }[] {
    return this.#index
      .search(vector, count)
      .map(({ label, similarity }) => ({ person: this.#byLabel[label]?.person ?? nobody, similarity }));
  }

  /** An id for a new person. */
  freeId(key: string): string {
    for (let more = 0; ; more++) {
      const id = `f${hashOf(`${key} ${more}`).slice(0, 10)}`;
      if (!this.#byPerson.has(id)) return id;
    }
  }

  /** Returns for each person the one that it is joined to: the one with a name, else with more faces. */
  *joined(least: number, names: ReadonlyMap<string, string>): Generator<void, Map<string, string>> {
    const roots = this.#byLabel.map(({ label }) => label);
    const nameOf = this.#byLabel.map(({ person }) => names.get(person));
    const rootOf = (label: number): number => {
      let root = label;
      while (roots[root] !== root) root = roots[root] ?? root;
      return (roots[label] = root);
    };
    for (const mean of this.#byLabel) {
      if ((mean.label + 1) % facesOfStep === 0) yield;
      if (scaleOf(mean.sum) === null) continue;
      for (const { label, similarity } of this.#index.search(mean.sum, nearestLooked)) {
        const [one, other] = [rootOf(mean.label), rootOf(label)];
        if (similarity < least || one === other) continue;
        const [name, otherName] = [nameOf[one], nameOf[other]];
        if (name !== undefined && otherName !== undefined && name !== otherName) continue;
        const countOf = (root: number): number => this.#byLabel[root]?.count ?? 0;
        const keepsOne =
          (name === undefined) === (otherName === undefined)
            ? countOf(one) >= countOf(other)
            : name !== undefined;
        roots[keepsOne ? other : one] = keepsOne ? one : other;
      }
    }
    return new Map(
      this.#byLabel.map(({ person, label }) => [person, this.#byLabel[rootOf(label)]?.person ?? person]),
    );
  }

  #emptyIndex(): VectorSet {
    return new VectorSet({ dimensions: this.#dimensions, capacity: clusterBounds.people });
  }

  #enter({ label, sum }: Mean): void {
    // Opposite faces may add up to nothing.
    if (scaleOf(sum) !== null) this.#index.add(label, sum);
  }
}
