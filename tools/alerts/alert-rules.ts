/** One rule of Prometheus, and series with which it fires and does not. */
export interface AlertRule {
  readonly name: string;
  readonly expression: string;
  /** How long it holds before the alert fires, in minutes. */
  readonly minutes: number;
  readonly severity: "critical" | "warning";
  readonly summary: string;
  /** The remedy. */
  readonly remedy: string;
  /**
   * Series in promtool's notation, a sample a minute, with which it fires within a quarter of an
   * hour.
   */
  readonly fires: Series;
  readonly quiet: Series;
}

type Series = Readonly<Record<string, string>>;

const ONE = '{job="zk",instance="a"}';
const TWO = '{job="zk",instance="b"}';
const THREE = '{job="zk",instance="c"}';
const NOW = 1_800_000_000;

export const ALERT_RULES: readonly AlertRule[] = [
  {
    name: "ZooidMemberDown",
    expression: 'up{job="zk"} == 0',
    minutes: 2,
    severity: "warning",
    summary: "{{ $labels.instance }} is not scraped",
    remedy: "See whether the server runs: systemctl status, kubectl get pods, or its log.",
    fires: { [`up${ONE}`]: "0x15", [`up${TWO}`]: "1x15" },
    quiet: { [`up${ONE}`]: "1x15", [`up${TWO}`]: "1x15" },
  },
  {
    name: "ZooidNoLeader",
    expression: "absent(leader_uptime) and on() (count(quorum_size > 1) > 0)",
    minutes: 1,
    severity: "critical",
    summary: "no server of the ensemble leads",
    remedy: "/readyz of each server names what it waits for; zooid-cli doctor asks all of them.",
    fires: { [`quorum_size${ONE}`]: "3x15", [`quorum_size${TWO}`]: "3x15" },
    quiet: { [`quorum_size${ONE}`]: "3x15", [`leader_uptime${ONE}`]: "0+60000x15" },
  },
  {
    name: "ZooidTwoLeaders",
    expression: "count by (job) (leader_uptime) > 1",
    minutes: 2,
    severity: "critical",
    summary: "more than one server of {{ $labels.job }} says that it leads",
    remedy: "Compare the ensembles' ids and the members: zooid-cli member list on each server.",
    fires: { [`leader_uptime${ONE}`]: "0+60000x15", [`leader_uptime${TWO}`]: "0+60000x15" },
    quiet: { [`leader_uptime${ONE}`]: "0+60000x15" },
  },
  {
    name: "ZooidNextFailureStopsWrites",
    expression: "quorum_size > 2 and synced_followers <= floor(quorum_size / 2)",
    minutes: 5,
    severity: "warning",
    summary: "no further voter may fail",
    remedy: "zooid-cli member list names the voters that do not serve.",
    fires: { [`quorum_size${ONE}`]: "3x15", [`synced_followers${ONE}`]: "1x15" },
    quiet: { [`quorum_size${ONE}`]: "3x15", [`synced_followers${ONE}`]: "2x15" },
  },
  {
    name: "ZooidLeadersChange",
    expression: "increase(election_time_count[15m]) > 2",
    minutes: 0,
    severity: "warning",
    summary: "leaders change: {{ $value }} elections in 15 minutes",
    remedy: "Check the network, pauses of the machine, and slow disks; the log's lines LOOKING have the reason.",
    fires: { [`election_time_count${ONE}`]: "0+1x15" },
    quiet: { [`election_time_count${ONE}`]: "1x15" },
  },
  {
    name: "ZooidSlowDisk",
    expression: "rate(fsynctime_sum[5m]) / rate(fsynctime_count[5m]) > 50",
    minutes: 5,
    severity: "warning",
    summary: "a sync of {{ $labels.instance }} takes {{ $value }} ms",
    remedy: "Every write waits for the disk of a quorum: give the log a disk of its own.",
    fires: { [`fsynctime_sum${ONE}`]: "0+6000x20", [`fsynctime_count${ONE}`]: "0+60x20" },
    quiet: { [`fsynctime_sum${ONE}`]: "0+300x20", [`fsynctime_count${ONE}`]: "0+60x20" },
  },
  {
    name: "ZooidDiskLow",
    expression: "zooid_disk_low == 1",
    minutes: 1,
    severity: "critical",
    summary: "{{ $labels.instance }} refuses writes that add data: its disk is nearly full",
    remedy: "Make room: docs/operations.md, full or failing disk.",
    fires: { [`zooid_disk_low${ONE}`]: "1x15" },
    quiet: { [`zooid_disk_low${ONE}`]: "0x15" },
  },
  {
    name: "ZooidDiskFull",
    expression: "zooid_disk_full == 1",
    minutes: 0,
    severity: "critical",
    summary: "{{ $labels.instance }} acknowledges nothing: its log waits for room",
    remedy: "Make room: docs/operations.md, full or failing disk.",
    fires: { [`zooid_disk_full${ONE}`]: "1x15" },
    quiet: { [`zooid_disk_full${ONE}`]: "0x15" },
  },
  {
    name: "ZooidDamagedFiles",
    expression: "zooid_scrub_damaged_files > 0",
    minutes: 0,
    severity: "critical",
    summary: "{{ $value }} files of {{ $labels.instance }} are damaged",
    remedy: "The ERROR line file-damaged names each, and what to do.",
    fires: { [`zooid_scrub_damaged_files${ONE}`]: "0x5 1x10" },
    quiet: { [`zooid_scrub_damaged_files${ONE}`]: "0x15" },
  },
  {
    name: "ZooidCertificateEnds",
    expression: "zooid_tls_certificate_not_after_seconds - time() < 14 * 86400",
    minutes: 0,
    severity: "warning",
    summary: "the certificate that {{ $labels.key }} of {{ $labels.instance }} see ends soon",
    remedy: "Renew its files: they are read again when they change, or by zooid-cli reload.",
    fires: { 'zooid_tls_certificate_not_after_seconds{job="zk",instance="a",key="clients"}': "86400x15" },
    quiet: { 'zooid_tls_certificate_not_after_seconds{job="zk",instance="a",key="clients"}': `${NOW}x15` },
  },
  {
    name: "ZooidClocksDiffer",
    expression: "abs(zooid_peer_clock_offset_seconds) > 2",
    minutes: 10,
    severity: "warning",
    summary: "the clocks of {{ $labels.instance }} and server {{ $labels.key }} differ by {{ $value }} s",
    remedy: "Synchronize them: times of nodes are the leader's, certificates are judged by each server's.",
    fires: { 'zooid_peer_clock_offset_seconds{job="zk",instance="a",key="2"}': "-5x20" },
    quiet: { 'zooid_peer_clock_offset_seconds{job="zk",instance="a",key="2"}': "-0.05x20" },
  },
  {
    name: "ZooidEpochsRunOut",
    expression: "zooid_epochs_left < 2^20",
    minutes: 0,
    severity: "warning",
    summary: "half of all epochs are used",
    remedy: "See why leaders change, and plan a new ensemble.",
    fires: { [`zooid_epochs_left${ONE}`]: "1000000x15" },
    quiet: { [`zooid_epochs_left${ONE}`]: "2000000x15" },
  },
  {
    name: "ZooidSlowRequests",
    expression: "increase(zooid_slow_requests_total[10m]) > 10",
    minutes: 0,
    severity: "warning",
    summary: "{{ $labels.instance }} had {{ $value }} slow requests in ten minutes",
    remedy: "The lines slow-request of its log name the stage that was slow.",
    fires: { [`zooid_slow_requests_total${ONE}`]: "0+5x15" },
    quiet: { [`zooid_slow_requests_total${ONE}`]: "7x15" },
  },
  {
    name: "ZooidDescriptorsRunOut",
    expression: "open_file_descriptor_count > 0.9 * max_file_descriptor_count and max_file_descriptor_count > 0",
    minutes: 5,
    severity: "warning",
    summary: "{{ $labels.instance }} has used nine tenths of its descriptors",
    remedy: "Raise the limit of open files, or lower maxCnxns.",
    fires: { [`open_file_descriptor_count${ONE}`]: "950x15", [`max_file_descriptor_count${ONE}`]: "1000x15" },
    quiet: { [`open_file_descriptor_count${ONE}`]: "950x15", [`max_file_descriptor_count${ONE}`]: "-1x15" },
  },
  {
    name: "ZooidConnectionsRefused",
    expression: "increase(connection_rejected[5m]) > 0",
    minutes: 0,
    severity: "warning",
    summary: "{{ $labels.instance }} refuses connections",
    remedy: "The lines refused of its log name the limit and the address: maxClientCnxns, maxCnxns, or descriptors.",
    fires: { [`connection_rejected${ONE}`]: "0+2x15" },
    quiet: { [`connection_rejected${ONE}`]: "4x15" },
  },
  {
    name: "ZooidBackupOld",
    expression: "max by (job) (zooid_backup_age_seconds) > 900",
    minutes: 0,
    severity: "warning",
    summary: "the backup lacks the last {{ $value }} s",
    remedy: "zooid-cli backup status names the fault.",
    fires: { [`zooid_backup_age_seconds${ONE}`]: "0+120x15" },
    quiet: { [`zooid_backup_age_seconds${ONE}`]: "20x15" },
  },
  {
    name: "ZooidBackupDiffers",
    expression: "zooid_backup_replay_differs == 1",
    minutes: 0,
    severity: "critical",
    summary: "the last base of the backup is not what its log leads to",
    remedy: "Keep the backup for analysis, and begin another: docs/operations.md, backups.",
    fires: { [`zooid_backup_replay_differs${ONE}`]: "1x15" },
    quiet: { [`zooid_backup_replay_differs${ONE}`]: "0x15" },
  },
  {
    name: "ZooidHistoryGap",
    expression: "increase(zooid_history_gaps_total[1h]) > 0",
    minutes: 0,
    severity: "warning",
    summary: "the history of {{ $labels.instance }} has a gap",
    remedy: "The line history-gap names the transactions: the disk or zooid.history.lagBytesMax was too small.",
    fires: { [`zooid_history_gaps_total${ONE}`]: "0x5 1x10" },
    quiet: { [`zooid_history_gaps_total${ONE}`]: "1x15" },
  },
  {
    name: "ZooidPasswordsAreGuessed",
    expression: "increase(auth_failed_count[5m]) > 20",
    minutes: 0,
    severity: "warning",
    summary: "{{ $value }} failed authentications at {{ $labels.instance }} in five minutes",
    remedy: "Passwords are being guessed, or a deployment has a wrong one: the audit log has the addresses.",
    fires: { [`auth_failed_count${ONE}`]: "0+10x15" },
    quiet: { [`auth_failed_count${ONE}`]: "100x15", [`auth_failed_count${THREE}`]: "0x15" },
  },
];
