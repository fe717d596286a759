/** Checks a `date-time` of RFC 3339, including a leap second where UTC may have one. */
export function isDateTime(text: string): boolean {
  return /^\d{4}-\d\d-\d\d[Tt]/.test(text) && isDate(text.slice(0, 10)) && isTime(text.slice(11));
}

export function isDate(text: string): boolean {
  const [, year = "", month = "", day = ""] = /^(\d{4})-(\d\d)-(\d\d)$/.exec(text) ?? [];
  const date = new Date(`${text}T00:00:00Z`);
  // A day that the month does not have becomes a day of the next month.
  return (
    year !== "" &&
    Number(month) >= 1 &&
    date.getUTCMonth() + 1 === Number(month) &&
    date.getUTCDate() === Number(day)
  );
}

export function isTime(text: string): boolean {
  const [, hour, minute, second, sign, offsetHour = 0, offsetMinute = 0] =
    /^(\d\d):(\d\d):(\d\d)(?:\.\d+)?(?:[Zz]|([+-])(\d\d):(\d\d))$/.exec(text) ?? [];
  if (hour === undefined || Number(hour) > 23 || Number(minute) > 59 || Number(second) > 60) return false;
  if (Number(offsetHour) > 23 || Number(offsetMinute) > 59) return false;
  if (Number(second) < 60) return true;
  const offset = (sign === "-" ? -1 : 1) * (Number(offsetHour) * 60 + Number(offsetMinute));
  const utc = (((Number(hour) * 60 + Number(minute) - offset) % minutesADay) + minutesADay) % minutesADay;
  return utc === minutesADay - 1;
}

const minutesADay = 24 * 60;
