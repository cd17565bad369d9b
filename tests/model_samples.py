"""A URDF and a model file that say everything once, one thing a line, for tests to spoil."""

from __future__ import annotations

URDF = """\
<?xml version="1.0"?>
<robot name="sample" version="1.0">
  <material name="grey"><color rgba="0.5 0.5 0.5 1"/></material>
  <link name="bus">
    <inertial>
      <origin xyz="0.1 -0.02 0.3" rpy="0.1 0.2 -0.3"/>
      <mass value="120.5"/>
      <inertia ixx="22.0" ixy="0.8" ixz="-0.5" iyy="25.0" iyz="0.6" izz="19.0"/>
    </inertial>
    <visual name="hull &amp; panels"><geometry><box size="1 1 1"/></geometry></visual>
    <collision><geometry><sphere radius="0.5"/></geometry></collision>
  </link>
  <link name="link_1">
    <inertial>
      <origin xyz="0 0 0.2"/>
      <mass value="6"/>
      <inertia ixx="0.2" ixy="0" ixz="0" iyy="0.25" iyz="0" izz="0.1"/>
    </inertial>
  </link>
  <link name="link_2">
    <inertial>
      <mass value="5.4"/>
      <inertia ixx="0.03" ixy="0" ixz="0" iyy="0.23" iyz="0" izz="0.22"/>
    </inertial>
  </link>
  <link name="tool"/>
  <joint name="arm_1" type="revolute">
    <origin xyz="0.6 0.1 0.5" rpy="0 0 1.5"/>
    <parent link="bus"/>
    <child link="link_1"/>
    <axis xyz="0 0 1"/>
    <limit lower="-2.6" upper="2.6" effort="80" velocity="0.6"/>
    <dynamics damping="0.1" friction="0.02"/>
    <safety_controller k_velocity="10"/>
  </joint>
  <joint name="arm_2" type="continuous">
    <origin xyz="0.5 0 0"/>
    <parent link="link_1"/>
    <child link="link_2"/>
    <axis xyz="0 1 0"/>
    <limit effort="80" velocity="0.6"/>
  </joint>
  <joint name="mount" type="fixed">
    <parent link="link_2"/>
    <child link="tool"/>
  </joint>
  <transmission name="t1"><type>simple</type></transmission>
</robot>
"""

TOML = """\
format = 1
name = "sample"
description = "Everything once."
gravity = [0.0, 0.1, 0.0]

[root]
type = "floating"
body = "bus"
linear_drag = 0.1
angular_drag = 0.2

[[body]]
name = "bus"
mass = 600.0
com = [0.1, 0.0, 0.0]
inertia = [150, 0.5, 0, 140, 0, 130]

[[body]]
name = "link_1"
mass = 8.5
inertia = [0.4, 0.4, 0.04]

[[body]]
name = "link_2"

[[joint]]
name = "arm_1"
type = "revolute"
parent = "bus"
child = "link_1"
xyz = [1.0, 0.0, 0.5]
rpy = [0.0, 0.1, 0.0]
axis = [0, 1, 0]
home = 0.3
damping = 0.5
friction = 0.1
limits = { lower = -2.0, upper = 2.0, velocity = 1.0, effort = 50.0 }
drive = { form = "geared", inertia = 1e-4, ratio = 100, stiffness = 1e4, role = "torque" }

[[joint]]
name = "slide"
type = "prismatic"
parent = "link_1"
child = "link_2"
role = "locked"
stiffness = 10.0
rest = 0.1

[[tank]]
name = "tank"
body = "bus"
pivot = [0.0, 0.0, 0.2]
mass = 100.0
length = 0.4
stiffness = 5.0
damping = [0.1, 0.2]

[[wheel]]
name = "wheel_x"
body = "bus"
axis = [1, 0, 0]
inertia = 0.05
speed = 100.0
max_torque = 0.2

[[thruster]]
name = "jet"
body = "bus"
position = [0.5, 0.0, 0.0]
direction = [0, 0, 1]
max_force = 10.0

[[target]]
name = "debris"
on = "gripper"
mass = 80.0
com = [0.0, 0.0, 0.3]
inertia = [10, 12, 8]

[[frame]]
name = "gripper"
body = "link_2"
xyz = [0.0, 0.0, 0.1]

[[sensor]]
kind = "gyro"
on = "bus"
rate = 100.0
noise = 1e-4
bias = [1e-5, 0, 0]
coloured = { sigma = 1e-5, time = 100.0 }

[[sensor]]
kind = "encoder"
on = "arm_*"
rate = 50
quantisation = 1e-4
delay = 0.01
dropout = 0.02

[[capsule]]
body = "link_1"
start = [0, 0, 0]
end = [0, 0, 0.5]
radius = 0.1

[orbit]
radius = 6.9e6

[limits]
base_attitude = 0.2
base_rate = 0.05
"""

MJCF = """<mujoco model="arm">
  <compiler angle="degree"/>
  <default><joint damping="0.5"/><geom density="800"/></default>
  <worldbody>
    <body name="bus" pos="0 0 1">
      <freejoint/>
      <inertial pos="0.1 0 0" mass="20" diaginertia="2 3 4"/>
      <body name="link" pos="0.3 0 0" euler="10 20 90">
        <joint name="hinge" axis="0 0 1" pos="0.1 0 0.2" ref="30" range="-90 90"/>
        <geom type="capsule" size=".04" fromto="0 0 0 0.5 0 0"/>
      </body>
    </body>
  </worldbody>
  <actuator><motor joint="hinge"/></actuator>
</mujoco>
"""

XACRO = """<robot name="r" xmlns:xacro="http://www.ros.org/wiki/xacro">
  <xacro:property name="m" value="2.5"/>
  <xacro:macro name="body" params="name">
    <link name="${name}"><inertial><mass value="${2 * m}"/>
      <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
  </xacro:macro>
  <xacro:body name="bus"/>
  <xacro:body name="link"/>
  <joint name="hinge" type="revolute">
    <parent link="bus"/><child link="link"/><axis xyz="0 0 1"/>
    <limit lower="-1" upper="1" effort="1" velocity="1"/>
  </joint>
</robot>
"""
