import { describe, expect, it } from 'vitest';
import { runLine } from '../support/main-job.js';
import { changedPaths, makeRepository } from '../support/project.js';
import { pathsIn } from '../support/typed.js';

describe('the main workflow, as one shell line', () => {
  it('SES-06 LAY-07 leaves git clean: only .forge/ was committed, nothing of this machine is in it', () => {
    const project = makeRepository();
    expect(runLine(project).exitCode).toBe(0);

    expect(changedPaths(project)).toEqual([]);
    const paths = pathsIn(project);
    expect(paths.filter((path) => !path.startsWith('.forge/'))).toEqual([]);
    expect(paths.filter((path) => /short-term|local|\.tmp|session-ids/.test(path))).toEqual([]);
    expect(project.git('rev-list', '--count', 'HEAD')).toBe('2');
    const committed = paths.map((path) => project.git('show', `HEAD:${path}`)).join('\n');
    expect(committed).not.toContain(project.dir);
    expect(committed).not.toMatch(/"(pid|holder|boot|host)"/);
  });

  it('FEA-02 stops the line at a feature whose test fails, with the session still running', () => {
    const project = makeRepository();
    project.write('package.json', '{ "scripts": { "test": "node -e \\"process.exit(1)\\"" } }\n');

    const { stdout, exitCode } = runLine(project);

    expect(exitCode).toBe(1);
    expect(stdout).toMatch(/^✗ FORGE-001 {2}not_implemented → failing .*exit code 1/m);
    expect(stdout).not.toContain('ended');
    expect(project.git('rev-list', '--count', 'HEAD')).toBe('1');
    expect(project.read('.forge/memory/short-term/progress.txt')).toContain('wired the form');
  });
});
