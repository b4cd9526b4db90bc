import { oneLine, plural } from '../core/text.js';
import { advisory, blocking, degraded, type Symptom } from '../status/symptom.js';
import type { Program } from './program.js';

/** The machine, the disk and the clock that forge works with here. */
export interface PlaceFacts {
  self: { name: string; version: string };
  /** All programs called forge on the PATH. */
  onPath: readonly Program[];
  /** The forge that git's hooks start; null: none, or one that is gone. */
  hooked: Program | null;
  /** What is left for this person; null: the system does not say. */
  room: { bytes: number; files: number | null } | null;
  /** Of `.forge/`. */
  bytes: number;
  /** Folders that nothing can be written to, and files that cannot be read, as they are shown. */
  unwritable: readonly string[];
  unreadable: readonly string[];
  /** Folders on file systems that promise too much. */
  network: readonly { folder: string; name: string }[];
  now: Date;
  /** The latest time that stands anywhere, and where; null: none. */
  latest: { at: string; what: string } | null;
}

const MB = 1024 * 1024;
const LEAST_ROOM = 50 * MB;
const LEAST_FILES = 100;
const MUCH = 500 * MB;
/** Clocks of two machines differ. */
const TOLERANCE_MS = 5 * 60_000;
/** No forge is older. */
const BEGINNING = Date.UTC(2025, 0, 1);

export const diagnosePlace = (facts: PlaceFacts): Symptom[] => [
  ...checkPrograms(facts),
  ...checkHooked(facts),
  ...checkRoom(facts),
  ...checkSize(facts),
  ...checkAccess(facts),
  ...checkNetwork(facts),
  ...checkClock(facts),
];

const megabytes = (bytes: number): string => `${Math.floor(bytes / MB)} MB`;

/** Another package's forge is told with the agents, which start it. */
function checkPrograms({ onPath, self }: PlaceFacts): Symptom[] {
  const ours = onPath.filter(({ name }) => name === self.name);
  const versions = new Set(ours.map(({ version }) => version));
  if (versions.size < 2) return [];
  const list = ours.map(({ path, version }) => `${path} (${version ?? 'version unknown'})`).join(', ');
  return advisory(
    `several versions of forge are on the PATH: ${list}`,
    'one of them',
    'who has another PATH, as an agent or a hook may, starts another version',
    'which -a forge',
  );
}

function checkHooked({ hooked, self }: PlaceFacts): Symptom[] {
  if (!hooked || hooked.version === null || hooked.version === self.version) return [];
  return advisory(
    `git's hooks start forge ${hooked.version} (${hooked.path})`,
    `forge ${self.version}, as you do`,
    'they check by the rules of that version',
    'forge hooks install',
  );
}

function checkRoom({ room }: PlaceFacts): Symptom[] {
  if (room === null) return [];
  const { bytes, files } = room;
  const why = 'forge refuses to write what it cannot write whole, and a session cannot end';
  if (bytes < LEAST_ROOM)
    return (bytes < MB ? blocking : degraded)(
      `${megabytes(bytes)} are free on the disk`,
      `${megabytes(LEAST_ROOM)} or more`,
      why,
      'df -h .',
    );
  if (files === null || files >= LEAST_FILES) return [];
  return degraded(`${plural(files, 'more file')} fit on the disk`, `${LEAST_FILES} or more`, why, 'df -i .');
}

function checkSize({ bytes }: PlaceFacts): Symptom[] {
  if (bytes < MUCH) return [];
  return advisory(
    `.forge/ has ${megabytes(bytes)}`,
    `less than ${megabytes(MUCH)}`,
    'each clone takes all of it, and looks at memory take longer',
    'forge memory stats',
    'du -sh .forge/*/*',
  );
}

function checkAccess({ unwritable, unreadable }: PlaceFacts): Symptom[] {
  return [
    ...unwritable.flatMap((path) =>
      blocking(
        `${path} cannot be written to`,
        'a folder of yours',
        'nothing can be kept',
        `ls -ld ${path}`,
        'id',
      ),
    ),
    ...(unreadable.length === 0
      ? []
      : blocking(
          `${unreadable.slice(0, 3).join(', ')}${unreadable.length > 3 ? ', …' : ''} cannot be read`,
          'files that you may read',
          'what stands in them is as if it were lost',
          `ls -l ${unreadable[0]}`,
        )),
  ];
}

const checkNetwork = ({ network }: PlaceFacts): Symptom[] =>
  network.flatMap(({ folder, name }) =>
    degraded(
      `${folder} is on ${name}`,
      'a disk of this machine',
      'locks, renames and fsync are not reliable there: let one machine at a time work in it',
      `df -hT ${folder}`,
    ),
  );

function checkClock({ now, latest }: PlaceFacts): Symptom[] {
  const expected = 'a clock that goes right';
  const why = 'times say which evidence is newer, and whether an agent is gone';
  const commands = ['date -u', 'timedatectl status'];
  const said = `the clock says ${now.toISOString()}`;
  if (now.getTime() < BEGINNING) return degraded(said, expected, why, ...commands);
  if (latest === null || Date.parse(latest.at) - now.getTime() <= TOLERANCE_MS) return [];
  return degraded(`${said}, but ${latest.what} has ${oneLine(latest.at, 40)}`, expected, why, ...commands);
}
