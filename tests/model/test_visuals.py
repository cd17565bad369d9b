"""What bodies look like: shapes of URDF and MJCF at the place where other readers have them."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
import pytest

from freefloat.model import Body, load_model
from freefloat.model import inertia as inertial
from freefloat.model.meshes import find_mesh, mesh_places
from freefloat.model.parts import Placement
from freefloat.model.visuals import Visual, find_visuals, inertia_box
from freefloat.notes import codes_of

INERTIAL = (
    '<inertial><mass value="2"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/>'
    "</inertial>"
)
URDF = f"""<robot name="r">
  <material name="gold"><color rgba="1 0.8 0 1"/></material>
  <link name="a">{INERTIAL}
    <visual><origin xyz="1 2 3" rpy="0.1 0.2 0.3"/><geometry><box size="1 2 3"/></geometry>
      <material name="gold"/></visual>
    <visual><geometry><mesh filename="package://mine/meshes/a.stl" scale="2 2 2"/></geometry>
      <material name=""><color rgba="0 0 1 0.5"/></material></visual>
    <visual><geometry><sphere radius="0.5"/></geometry></visual>
    <visual><geometry><cylinder radius="0.5" length="3"/></geometry></visual>
    <visual><geometry><capsule radius="0.5" length="3"/></geometry></visual>
    <visual><geometry><box size="1 wide 3"/></geometry></visual>
    <collision><geometry><sphere radius="4"/></geometry></collision>
  </link>
  <link name="b">{INERTIAL}</link>
  <joint name="j" type="fixed"><parent link="a"/><child link="b"/></joint>
</robot>
"""


@pytest.fixture
def robot(tmp_path) -> Path:
    path = tmp_path / "urdf" / "r.urdf"
    path.parent.mkdir()
    path.write_text(URDF, encoding="utf-8")
    return path


def test_shapes_of_a_urdf(robot, tmp_path):
    mesh = tmp_path / "mine" / "meshes" / "a.stl"
    mesh.parent.mkdir(parents=True)
    mesh.write_bytes(b"")
    found = find_visuals(load_model(robot), robot, search=[tmp_path])
    blue, gold = (0.0, 0.0, 1.0, 0.5), (1.0, 0.8, 0.0, 1.0)
    place, home = Placement((1.0, 2.0, 3.0), (0.1, 0.2, 0.3)), Placement()
    uri = "package://mine/meshes/a.stl"
    assert found.of("a") == (
        Visual("a", "box", place, (1.0, 2.0, 3.0), gold),
        Visual("a", "mesh", home, (2.0, 2.0, 2.0), blue, uri, mesh),
        Visual("a", "ellipsoid", home, (1.0, 1.0, 1.0)),
        Visual("a", "cylinder", home, (1.0, 1.0, 3.0)),
        Visual("a", "capsule", home, (1.0, 1.0, 4.0)),
    )
    assert [shape.use for shape in found.of("b")] == ["inertia"]
    assert codes_of(found.notes) == ("visuals.unreadable",) and "wide" in found.notes[0]
    (touching,) = find_visuals(
        load_model(robot), robot, use="collision", inertia_boxes=False
    ).shapes
    assert (touching.size, touching.use) == ((8.0, 8.0, 8.0), "collision")


def test_a_mesh_that_is_nowhere_is_noted_and_no_other_file_is_named(robot, tmp_path):
    found = find_visuals(load_model(robot), robot)
    assert found.of("a")[1].path is None and "visuals.no_mesh" in codes_of(found.notes)
    (tmp_path / "urdf" / "secret.txt").write_text("x")
    places = mesh_places(robot)
    for uri in ("secret.txt", "file:///etc/passwd", "../../etc/passwd", "a\0.stl", "x" * 5000):
        assert find_mesh(uri, places) is None


def test_a_model_file_has_the_shapes_of_its_urdf(robot):
    model_file = robot.with_name("m.toml")
    model_file.write_text('format = 1\nname = "m"\nurdf = "r.urdf"\n', encoding="utf-8")
    shapes = find_visuals(load_model(model_file), model_file).shapes
    assert shapes == find_visuals(load_model(robot), robot).shapes


def test_the_box_has_the_inertia_of_the_body():
    tensor = np.array([[3.0, 0.2, -0.1], [0.2, 2.0, 0.3], [-0.1, 0.3, 1.5]])
    xx, xy, xz, yy, yz, zz = inertial.six(tensor).tolist()
    box = inertia_box(Body("b", 7.0, (0.1, 0.2, 0.3), (xx, xy, xz, yy, yz, zz)))
    assert box is not None and box.placement.xyz == (0.1, 0.2, 0.3)
    a, b, c = np.square(box.size)
    R = box.placement.rotation
    # rounding of a handful of operations
    np.testing.assert_allclose(
        R @ np.diag([b + c, a + c, a + b]) @ R.T * 7.0 / 12.0, tensor, atol=1e-13
    )
    assert inertia_box(Body("b", 7.0)) is None and inertia_box(Body("b")) is None


def write_stl(path: Path, corners: np.ndarray) -> None:
    """A binary STL: 80 bytes of header, a count, then normal, three corners, two bytes each."""
    flat = corners.astype("<f4")
    faces = b"".join(struct.pack("<3f", 0, 0, 0) + face.tobytes() + b"\0\0" for face in flat)
    path.write_bytes(bytes(80) + struct.pack("<I", len(flat)) + faces)


def test_shapes_of_mjcf_are_where_mujoco_has_them(tmp_path):
    mujoco = pytest.importorskip("mujoco")
    points = np.array([[0.0, 0, 0], [1.0, 0.1, 0], [0, 0.7, 0.1], [0.2, 0, 1.5]])
    faces = np.array([[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2]])
    write_stl(tmp_path / "tetrahedron.stl", points[faces])
    robot = tmp_path / "robot.xml"
    robot.write_text(
        """<mujoco><asset><mesh name="t" file="tetrahedron.stl" scale="0.5 0.4 0.3"/></asset>
        <worldbody><body name="b"><freejoint/>
          <geom type="mesh" mesh="t" pos="1 2 3" euler="10 20 30" rgba="1 0 0 1"/>
          <geom type="capsule" size="0.1" fromto="0 0 0 0 0 2" contype="0" conaffinity="0"/>
          <geom type="sphere" size="0.5" group="3"/>
          <geom type="cylinder" size="0.5 2"/>
          <geom type="box" size="0.5 1 2"/>
          <geom type="ellipsoid" size="0.5 1 2"/>
        </body></worldbody></mujoco>""",
        encoding="utf-8",
    )
    model = load_model(robot)
    mesh, *others = find_visuals(model, robot).shapes
    assert mesh.uri == "tetrahedron.stl" and mesh.path == robot.with_name("tetrahedron.stl")
    m = mujoco.MjModel.from_xml_path(str(robot))
    data = mujoco.MjData(m)
    mujoco.mj_forward(m, data)
    world = data.geom_xmat[0].reshape(3, 3) @ m.mesh_vert.T + data.geom_xpos[0][:, None]
    here = mesh.placement.rotation @ (points * mesh.size).T + mesh.placement.position[:, None]
    # MuJoCo keeps vertices in single precision, in an order of its own
    for point in here.T:
        assert np.linalg.norm(world.T - point, axis=1).min() < 1e-6
    assert [(shape.shape, shape.size) for shape in others] == [
        ("capsule", (0.2, 0.2, 2.2)),
        ("cylinder", (1.0, 1.0, 4.0)),
        ("box", (1.0, 2.0, 4.0)),
        ("ellipsoid", (1.0, 2.0, 4.0)),
    ]
    touching = find_visuals(model, robot, use="collision").shapes
    assert [shape.shape for shape in touching] == ["mesh", "ellipsoid", "cylinder", "box",
                                                   "ellipsoid"]  # fmt: skip
