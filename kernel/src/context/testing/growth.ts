import process from "node:process";

/** The pieces are smaller by this factor. Quadratic time gives this ratio, linear time 1. */
export const growthFactor = 8;

/**
 * Returns how much more CPU time the whole takes than as many pieces of its size divided by `growthFactor`: the
 * smallest ratio of several attempts, because other processes disturb each of them.
 */
export function growthOf(piece: () => void, whole: () => void): number {
  const timeOf = (run: () => void, times: number): number => {
    const start = process.cpuUsage();
    for (let time = 0; time < times; time++) run();
    return Math.max(process.cpuUsage(start).user, 500);
  };
  timeOf(piece, growthFactor);
  timeOf(whole, 1);
  const ratios = Array.from({ length: 5 }, () => timeOf(whole, 1) / timeOf(piece, growthFactor));
  return Math.min(...ratios);
}
