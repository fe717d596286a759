/** The exit codes of the commands. The last three are those of a program that SIGINT, SIGPIPE or SIGTERM ends. */
export const exitCodes = {
  ok: 0,
  failed: 1,
  usage: 2,
  waiting: 3,
  incomplete: 4,
  cut: 5,
  interrupted: 130,
  unread: 141,
  terminated: 143,
} as const;
