extends Spatial

var frame = 0

func _process(_delta):
	frame += 1
	$Box.rotate_y(0.05)
	$Ball.translation.y = 0.5 * sin(frame * 0.2)
