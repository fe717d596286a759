/** Latitude and longitude in degrees. */
export type Position = readonly [latitude: number, longitude: number];

const earthKm = 6371;
/** Kilometres of one degree of latitude. */
export const degreeKm = (earthKm * Math.PI) / 180;
const radians = (degrees: number): number => (degrees * Math.PI) / 180;

/** Returns the great-circle distance in kilometres. */
export function distanceKm([lat1, lon1]: Position, [lat2, lon2]: Position): number {
  const across = Math.sin(radians(lat2 - lat1) / 2) ** 2;
  const along = Math.sin(radians(lon2 - lon1) / 2) ** 2;
  const half = across + Math.cos(radians(lat1)) * Math.cos(radians(lat2)) * along;
  return 2 * earthKm * Math.asin(Math.min(1, Math.sqrt(half)));
}

/** Returns the middle of positions, also where they lie on both sides of the date line. */
export function middleOf(positions: readonly Position[]): Position {
  let x = 0;
  let y = 0;
  let z = 0;
  for (const [latitude, longitude] of positions) {
    x += Math.cos(radians(latitude)) * Math.cos(radians(longitude));
    y += Math.cos(radians(latitude)) * Math.sin(radians(longitude));
    z += Math.sin(radians(latitude));
  }
  const degrees = (angle: number): number => Math.round((angle * 180 * 1e5) / Math.PI) / 1e5;
  return [degrees(Math.atan2(z, Math.hypot(x, y))), degrees(Math.atan2(y, x))];
}
