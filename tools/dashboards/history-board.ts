import { type Board, OF_ENSEMBLE as E } from "./board.ts";

export const HISTORY_BOARD: Board = {
  uid: "zooid-history",
  title: "Zooid: history and backup",
  description: "Whether the past can be read and the ensemble restored: the history of each server, and the backup",
  isOfOneServer: false,
  rows: [
    {
      title: "Backup",
      panels: [
        {
          title: "Not in the backup",
          shape: "number",
          unit: "s",
          queries: { age: `max(zooid_backup_age_seconds{${E}})` },
          steps: [
            [0, "green"],
            [300, "yellow"],
            [900, "red"],
          ],
          shows: "A restore would lose the transactions of this time.",
          bad: "Above 15 minutes: uploads fail, or no server uploads. No value: there is no backup.",
          remedy: "zooid-cli backup status names the fault.",
        },
        {
          title: "Servers that upload",
          shape: "number",
          queries: { servers: `sum(zooid_backup_uploading{${E}})` },
          steps: [
            [0, "red"],
            [1, "green"],
            [2, "red"],
          ],
          bad: "0: no server uploads. 2 for longer than some minutes: their clocks differ, or their targets do.",
          remedy: "zooid-cli backup status asks each server what it waits for.",
        },
        {
          title: "Age of the last base",
          shape: "number",
          unit: "s",
          queries: { age: `max(zooid_backup_base_age_seconds{${E}})` },
          shows: "Time since a copy of the whole state was taken; a restore replays the log from there.",
          bad: "Above twice zooid.backup.baseEveryMs: no new one could be taken or uploaded.",
          remedy: "zooid-cli backup now takes one at once, and names what fails.",
        },
        {
          title: "Backup differs from its log",
          shape: "number",
          queries: { differs: `max(zooid_backup_replay_differs{${E}})` },
          steps: [
            [0, "green"],
            [1, "red"],
          ],
          bad: "1: the last base is not what the one before it and the log lead to.",
          remedy: "Keep the backup for analysis, and begin another: docs/operations.md, backups.",
        },
        {
          title: "Last checks of the backup",
          unit: "s",
          queries: {
            "read back": `max(zooid_backup_verified_age_seconds{${E}})`,
            "compared with its log": `max(zooid_backup_replayed_age_seconds{${E}})`,
          },
          shows: "Time since a base was read back, and since it was compared with the one before it.",
          bad: "Above twice zooid.backup.baseEveryMs: a restore may meet what no check has seen.",
          remedy: "zooid-server backup verify checks a target without a server.",
        },
        {
          title: "Faults of the backup",
          queries: {
            "{{instance}} fails": `zooid_backup_failing{${E}}`,
            "{{instance}} gaps in a day": `increase(zooid_backup_gaps_total{${E}}[1d])`,
          },
          bad: "Fails is 1: the target refuses, is full, or is away. A gap: moments within it cannot be restored.",
          remedy: "zooid-cli backup status names the fault; a base after the gap ends it.",
        },
      ],
    },
    {
      title: "History",
      panels: [
        {
          title: "Size of the history",
          unit: "bytes",
          queries: { "{{instance}}": `zooid_history_bytes{${E}}` },
          bad: "Grows beyond what the disk can hold.",
          remedy: "Lower zooid.history.retainMs, or set zooid.history.retainBytes: a reload applies both.",
        },
        {
          title: "Files of the history",
          queries: { "{{instance}}": `zooid_history_files{${E}}` },
          bad: "Tens of thousands: files are written too often.",
          remedy: "Raise zooid.history.fileMs: a reload applies it.",
        },
        {
          title: "Not in the history yet",
          unit: "bytes",
          queries: { "{{instance}}": `zooid_history_lag_bytes{${E}}` },
          bad: "Near zooid.history.lagBytesMax: the log is purged soon, and the history has a gap.",
          remedy: "The line history-not-written of the log names the reason; most often the disk has no room.",
        },
        {
          title: "Faults of the history",
          queries: {
            "{{instance}} fails": `zooid_history_failing{${E}}`,
            "{{instance}} gaps in a day": `increase(zooid_history_gaps_total{${E}}[1d])`,
          },
          bad: "Fails is 1: files cannot be written. A gap: moments within it cannot be read or restored.",
          remedy: "The lines history-not-written and history-gap of the log name the reason and the transactions.",
        },
        {
          title: "Free room",
          unit: "bytes",
          queries: { "{{instance}} {{key}}": `zooid_disk_free_bytes{${E}}` },
          bad: "Falls as the history grows: the server would refuse writes before it removes history.",
          remedy: "Set zooid.history.retainBytes, or make room: docs/operations.md, full or failing disk.",
        },
      ],
    },
  ],
};
